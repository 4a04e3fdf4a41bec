"""Small traces as OTLP, written down as other people's instrumentation sends them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

MS = 1_000_000
BASE_NS = 1_700_000_000_000 * MS
HOUR_MS = 3_600_000.0
INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = range(1, 6)
Value = str | int | Sequence[str]


class Sent(NamedTuple):
    """A span; times in ms after BASE_NS. parent: an id; 0: a root. linked: ids of traces."""

    id: int
    parent: int
    kind: int
    start_ms: float
    end_ms: float
    attributes: Mapping[str, Value] = {}
    name: str = "work"
    linked: Sequence[int] = ()


def sent(resource: Mapping[str, Value], *spans: Sent, scope: str = "", trace: int = 1) -> ResourceSpans:
    """Spans of one trace, resource and instrumentation scope."""
    message = ResourceSpans()
    message.resource.attributes.extend(_attributes(resource))
    message.scope_spans.add().scope.name = scope
    message.scope_spans[0].spans.extend(_span(span, trace) for span in spans)
    return message


def request(*resources: ResourceSpans) -> bytes:
    return ExportTraceServiceRequest(resource_spans=resources).SerializeToString()


def _span(span: Sent, trace: int) -> Span:
    return Span(
        trace_id=trace.to_bytes(16),
        span_id=span.id.to_bytes(8),
        parent_span_id=span.parent.to_bytes(8) if span.parent else b"",
        name=span.name,
        kind=span.kind,  # type: ignore[arg-type]
        start_time_unix_nano=BASE_NS + round(span.start_ms * MS),
        end_time_unix_nano=BASE_NS + round(span.end_ms * MS),
        attributes=_attributes(span.attributes),
        links=[Span.Link(trace_id=linked.to_bytes(16), span_id=(1).to_bytes(8)) for linked in span.linked],
    )


def _attributes(attributes: Mapping[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


def _value(value: Value) -> AnyValue:
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=text) for text in value]))
