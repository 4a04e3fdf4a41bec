"""Which completions are errors: those that failed by no fault of their caller, as ResponseCode.java says."""

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import KeyValue

HTTP = ("http.response.status_code", "http.status_code")
RPC = (
    "rpc.status_code",
    "rpc.response.status_code",
    "rpc.grpc.status_code",
    "rpc.connect_rpc.error_code",
    "grpc.status_code",
)
CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
FAULTS = {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE"}
OF_CALLERS = {
    "CANCELLED",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "UNAUTHENTICATED",
}


def is_error(failed: bool, attributes: Iterable[KeyValue]) -> bool:
    """failed: whether the span's status is ERROR."""
    attributes = list(attributes)
    rpc = [code for name in RPC for attribute in attributes if attribute.key == name and (code := _rpc(attribute))]
    http = [
        status for name in HTTP for attribute in attributes if attribute.key == name and (status := _http(attribute))
    ]
    if rpc:
        return rpc[0] in FAULTS or (failed and rpc[0] not in OF_CALLERS)
    if http and http[0] >= 400:
        return http[0] >= 500 or http[0] in (408, 429)
    return failed


def _rpc(attribute: KeyValue) -> str:
    value = attribute.value
    if value.HasField("int_value"):
        return CODES[value.int_value] if 0 <= value.int_value < len(CODES) else ""
    text = value.string_value
    if text.isascii() and text.isdigit() and str(int(text)) == text:
        return CODES[int(text)] if int(text) < len(CODES) else ""
    if text in ("CANCELED", "canceled"):
        return "CANCELLED"
    return text.upper() if text in CODES or text in [code.lower() for code in CODES] else ""


def _http(attribute: KeyValue) -> int:
    value = attribute.value
    number = value.int_value
    if value.HasField("string_value") and _three_digits(value.string_value):
        number = int(value.string_value)
    return number if 100 <= number <= 599 else 0


def _three_digits(text: str) -> bool:
    return len(text) == 3 and text.isascii() and text.isdigit()
