"""Converts one Zipkin v2 span to OTLP.

| Zipkin                                    | OTLP                                                        |
|-------------------------------------------|-------------------------------------------------------------|
| localEndpoint.serviceName                 | resource attribute service.name                             |
| localEndpoint.ipv4, else ipv6             | resource attribute host.name                                |
| traceId, id, parentId (hex, 64 or 128 bit)| 16 and 8 bytes, padded on the left                          |
| name, kind                                | name, kind; without a kind INTERNAL                         |
| timestamp, duration (us)                  | start and end time (ns); without a duration 0               |
| remoteEndpoint                            | attributes peer.service, network.peer.address and .port     |
| tags                                      | attributes; `error`, unless false, sets the status ERROR    |
| annotations                               | events                                                      |
| shared                                    | nothing: both sides keep the id; path walks separate them   |

Format: openzipkin/zipkin-api, zipkin2-api.yaml.
"""

from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from sluice.cli.traces.replay.fields import id_bytes, integer, time_ns
from sluice.cli.traces.replay.trace import BadRecordError, LoneSpan, measure

_KINDS = {
    "SERVER": Span.SPAN_KIND_SERVER,
    "CLIENT": Span.SPAN_KIND_CLIENT,
    "PRODUCER": Span.SPAN_KIND_PRODUCER,
    "CONSUMER": Span.SPAN_KIND_CONSUMER,
}
_MOST_PORT = 65_535


def is_zipkin(record: dict[str, Any]) -> bool:
    """Whether the record is a Zipkin span, of either version."""
    return "traceId" in record and "id" in record


def convert_zipkin(record: dict[str, Any]) -> LoneSpan:
    """Converts one span. Raises BadRecordError that names the bad field."""
    if "binaryAnnotations" in record:
        raise BadRecordError("is a span of Zipkin v1 (`binaryAnnotations`), which is not supported; use /api/v2")
    local, remote = _object(record, "localEndpoint"), _object(record, "remoteEndpoint")
    service = local.get("serviceName")
    if not isinstance(service, str) or not service:
        raise BadRecordError("localEndpoint.serviceName is missing")
    resource = ResourceSpans()
    _text(resource.resource.attributes.add(), "service.name", service)
    if address := _address(local):
        _text(resource.resource.attributes.add(), "host.name", address)
    span = resource.scope_spans.add().spans.add()
    _ids(span, record)
    span.name = str(record.get("name") or "")
    kind = record.get("kind")
    if kind is not None and kind not in _KINDS:
        raise BadRecordError(f"kind is {kind!r}; legal: {', '.join(_KINDS)}, or none")
    span.kind = _KINDS.get(str(kind), Span.SPAN_KIND_INTERNAL)
    start_us = integer(record.get("timestamp"), "timestamp")
    duration_us = integer(record.get("duration", 0), "duration")
    span.start_time_unix_nano = time_ns(start_us, "timestamp")
    span.end_time_unix_nano = time_ns(start_us + duration_us, "duration")
    _peer(span, remote)
    _tags(span, _object(record, "tags"))
    _events(span, record.get("annotations"))
    trace = measure((resource,))
    return LoneSpan(trace.resource_spans, trace.spans, trace.start_ns, trace.end_ns)


def _ids(span: Span, record: dict[str, Any]) -> None:
    span.trace_id = id_bytes(record.get("traceId"), 16, "traceId")
    span.span_id = id_bytes(record.get("id"), 8, "id")
    if record.get("parentId"):
        span.parent_span_id = id_bytes(record["parentId"], 8, "parentId")


def _peer(span: Span, remote: dict[str, Any]) -> None:
    if name := remote.get("serviceName"):
        _text(span.attributes.add(), "peer.service", str(name))
    if address := _address(remote):
        _text(span.attributes.add(), "network.peer.address", address)
        port = remote.get("port")
        if isinstance(port, int) and 0 < port <= _MOST_PORT:
            span.attributes.add(key="network.peer.port").value.int_value = port


def _tags(span: Span, tags: dict[str, Any]) -> None:
    for key, value in tags.items():
        _text(span.attributes.add(), key, str(value))
    error = str(tags.get("error", "false"))
    if error.lower() != "false":
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = "" if error.lower() == "true" else error


def _events(span: Span, annotations: Any) -> None:
    if annotations is not None and not isinstance(annotations, list):
        raise BadRecordError("annotations is not an array")
    for number, annotation in enumerate(annotations or []):
        where = f"annotations[{number}]"
        if not isinstance(annotation, dict):
            raise BadRecordError(f"{where} is not an object")
        at_us = integer(annotation.get("timestamp"), f"{where}.timestamp")
        span.events.add(time_unix_nano=time_ns(at_us, f"{where}.timestamp"), name=str(annotation.get("value")))


def _object(record: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`; empty where it is absent or null."""
    value = record.get(key)
    if value is not None and not isinstance(value, dict):
        raise BadRecordError(f"{key} is not an object")
    return value or {}


def _address(endpoint: dict[str, Any]) -> str:
    return str(endpoint.get("ipv4") or endpoint.get("ipv6") or "")


def _text(out: KeyValue, key: str, value: str) -> None:
    out.key = key
    out.value.string_value = value
