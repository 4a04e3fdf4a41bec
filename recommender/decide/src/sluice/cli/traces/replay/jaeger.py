"""Converts one Jaeger JSON trace to OTLP.

| Jaeger                                   | OTLP                                                       |
|------------------------------------------|------------------------------------------------------------|
| processes[pid].serviceName               | resource attribute service.name                            |
| process tag hostname                     | resource attribute host.name; other tags keep their keys   |
| traceID, spanID (hex, zeros left out)    | 16 and 8 bytes, padded on the left                         |
| operationName                            | name                                                       |
| startTime, duration (us)                 | start and end time (ns); a negative duration is kept       |
| first reference CHILD_OF, same trace     | parent_span_id                                             |
| every other reference                    | link, with opentracing.ref_type                            |
| tag span.kind                            | kind; without it INTERNAL                                  |
| tag error=true or otel.status_code=ERROR | status ERROR, message from otel.status_description         |
| other tags                               | attributes of the same type                                |
| logs                                     | events; the field `event` is the name                      |

Format: the Jaeger UI's model, github.com/jaegertracing/jaeger-ui, `types/trace`. Attribute opentracing.ref_type:
OpenTelemetry semantic conventions, "OpenTracing compatibility".
"""

from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from sluice.cli.traces.replay.attributes import add_jaeger_tags
from sluice.cli.traces.replay.fields import id_bytes, integer, time_ns
from sluice.cli.traces.replay.trace import BadRecordError, Trace, measure

_KINDS = {
    "internal": Span.SPAN_KIND_INTERNAL,
    "server": Span.SPAN_KIND_SERVER,
    "client": Span.SPAN_KIND_CLIENT,
    "producer": Span.SPAN_KIND_PRODUCER,
    "consumer": Span.SPAN_KIND_CONSUMER,
}


def convert_jaeger(record: dict[str, Any]) -> Trace:
    """Converts `{"traceID", "spans": [...], "processes": {...}}`. Raises BadRecordError that names the bad field."""
    spans = record.get("spans")
    if not isinstance(spans, list) or not spans:
        raise BadRecordError("has no spans")
    processes = record.get("processes") or {}
    if not isinstance(processes, dict):
        raise BadRecordError(f"processes is {_json_type(processes)}, not an object")

    by_process: dict[Any, ResourceSpans] = {}
    for number, span in enumerate(spans):
        if not isinstance(span, dict):
            raise BadRecordError(f"spans[{number}] is {_json_type(span)}, not an object")
        where = f"spans[{number}]"
        process_id = span.get("processID")
        if isinstance(process_id, list | dict):
            raise BadRecordError(f"{where}.processID is {_json_type(process_id)}, not a string")
        key = process_id if "process" not in span else number
        resource = by_process.get(key)
        if resource is None:
            process = span.get("process", processes.get(process_id))
            resource = by_process[key] = _resource(process, f"processes[{process_id!r}]", where)
        _fill(resource.scope_spans[0].spans.add(), span, record.get("traceID"), where)
    return measure(tuple(by_process.values()))


def _resource(process: Any, name: str, where: str) -> ResourceSpans:
    if not isinstance(process, dict):
        raise BadRecordError(f"{where}.processID: the trace has no {name}")
    service = process.get("serviceName")
    if not isinstance(service, str) or not service:
        raise BadRecordError(f"{name}.serviceName is missing")
    resource = ResourceSpans()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    add_jaeger_tags(resource.resource.attributes, process.get("tags"), f"{name}.tags", {"hostname": "host.name"})
    resource.scope_spans.add()
    return resource


def _fill(out: Span, span: dict[str, Any], record_trace_id: Any, where: str) -> None:
    trace_id = span.get("traceID", record_trace_id)
    out.trace_id = id_bytes(trace_id, 16, f"{where}.traceID")
    out.span_id = id_bytes(span.get("spanID"), 8, f"{where}.spanID")
    name = span.get("operationName")
    if not isinstance(name, str):
        raise BadRecordError(f"{where}.operationName is missing")
    out.name = name
    start_us = integer(span.get("startTime"), f"{where}.startTime")
    duration_us = integer(span.get("duration"), f"{where}.duration")
    out.start_time_unix_nano = time_ns(start_us, f"{where}.startTime")
    out.end_time_unix_nano = time_ns(start_us + duration_us, f"{where}.duration")
    out.kind = Span.SPAN_KIND_INTERNAL
    _references(out, span, where)
    _tags(out, _array(span, "tags", where), f"{where}.tags")
    for number, log in enumerate(_array(span, "logs", where)):
        _event(out, log, f"{where}.logs[{number}]")


def _references(out: Span, span: dict[str, Any], where: str) -> None:
    references = _array(span, "references", where)
    for number, reference in enumerate(references):
        place = f"{where}.references[{number}]"
        if not isinstance(reference, dict):
            raise BadRecordError(f"{place} is {_json_type(reference)}, not an object")
        kind = reference.get("refType")
        if kind not in ("CHILD_OF", "FOLLOWS_FROM"):
            raise BadRecordError(f"{place}.refType is {kind!r}, not CHILD_OF or FOLLOWS_FROM")
        span_id = id_bytes(reference.get("spanID"), 8, f"{place}.spanID")
        trace_id = id_bytes(reference["traceID"], 16, f"{place}.traceID") if "traceID" in reference else out.trace_id
        if kind == "CHILD_OF" and trace_id == out.trace_id and not out.parent_span_id:
            out.parent_span_id = span_id
        else:
            link = out.links.add(trace_id=trace_id, span_id=span_id)
            link.attributes.add(key="opentracing.ref_type").value.string_value = kind.lower()
    # Exports older than Jaeger 1.7 have the parent in a field of its own.
    if not out.parent_span_id and not references and span.get("parentSpanID") not in (None, "", "0"):
        out.parent_span_id = id_bytes(span["parentSpanID"], 8, f"{where}.parentSpanID")


def _tags(out: Span, tags: list[Any], where: str) -> None:
    """Moves span.kind and the status from the tags to the span; the other tags become attributes."""
    kept = []
    for tag in tags:
        key, value = (tag.get("key"), tag.get("value")) if isinstance(tag, dict) else (None, None)
        if key == "span.kind" and str(value).lower() in _KINDS:
            out.kind = _KINDS[str(value).lower()]
        elif key == "otel.status_code":
            if str(value).upper() == "ERROR":
                out.status.code = Status.STATUS_CODE_ERROR
            elif str(value).upper() == "OK" and out.status.code == Status.STATUS_CODE_UNSET:
                out.status.code = Status.STATUS_CODE_OK
        elif key == "otel.status_description":
            out.status.message = str(value)
        else:
            if key == "error" and str(value).lower() == "true":
                out.status.code = Status.STATUS_CODE_ERROR
            kept.append(tag)
    add_jaeger_tags(out.attributes, kept, where)


def _event(out: Span, log: Any, where: str) -> None:
    if not isinstance(log, dict):
        raise BadRecordError(f"{where} is {_json_type(log)}, not an object")
    event = out.events.add(time_unix_nano=time_ns(integer(log.get("timestamp"), f"{where}.timestamp"), where))
    attributes = []
    for field in _array(log, "fields", where):
        if isinstance(field, dict) and field.get("key") == "event" and not event.name:
            event.name = str(field.get("value"))
        else:
            attributes.append(field)
    add_jaeger_tags(event.attributes, attributes, f"{where}.fields")


def _array(owner: dict[str, Any], key: str, where: str) -> list[Any]:
    """The array under `key`; empty where it is absent or null."""
    value = owner.get(key)
    if value is not None and not isinstance(value, list):
        raise BadRecordError(f"{where}.{key} is {_json_type(value)}, not an array")
    return value or []


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
