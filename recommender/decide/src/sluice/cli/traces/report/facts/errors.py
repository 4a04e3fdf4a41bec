"""Which completions are errors: those that failed by no fault of their caller. The rules are those of
ResponseCode.java."""

from sluice.cli.traces.report.facts.attributes import HTTP_CODE, RPC_CODE, Attributes, Value

#: gRPC's codes by number.
CODES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
FAULTS = frozenset({"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE"})
OF_CALLERS = frozenset(
    {
        *("CANCELLED", "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED"),
        *("FAILED_PRECONDITION", "OUT_OF_RANGE", "UNAUTHENTICATED"),
    }
)
_BY_TEXT = {text: code for code in CODES for text in (code, code.lower())} | dict.fromkeys(
    ("CANCELED", "canceled"), "CANCELLED"
)
_TOO_SLOW, _TOO_MANY = 408, 429


def is_error(failed: bool, attributes: Attributes) -> bool:
    """failed: the span's status is ERROR. A code of RPC goes before one of HTTP, and both before the status."""
    for name in RPC_CODE:
        if name in attributes and (code := _rpc(attributes[name])):
            return code in FAULTS or (failed and code not in OF_CALLERS)
    for name in HTTP_CODE:
        if name in attributes and (status := _http(attributes[name])):
            return failed if status < 400 else status >= 500 or status in (_TOO_SLOW, _TOO_MANY)
    return failed


def _rpc(value: Value) -> str:
    if isinstance(value, bool | float):
        return ""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and str(int(value)) == value):
            return _BY_TEXT.get(value, "")
        value = int(value)
    return CODES[value] if 0 <= value < len(CODES) else ""


def _http(value: Value) -> int:
    if isinstance(value, str):
        value = int(value) if len(value) == 3 and value.isascii() and value.isdigit() else 0
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599 else 0
