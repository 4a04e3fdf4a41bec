"""Reads OTLP protobuf into columns: messages of a file, and what the converters of `replay` return."""

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from sluice.cli.traces.replay.trace import BadRecordError
from sluice.cli.traces.report.facts.attributes import Value
from sluice.cli.traces.report.facts.facts import CLIENT, PRODUCER, THRESHOLD, Description, threshold_of
from sluice.cli.traces.report.reading.columns import Rows
from sluice.cli.traces.report.reading.memory import Memory

_TYPES = ("string_value", "bool_value", "int_value", "double_value")


def add_resource_spans(memory: Memory, resources: Iterable[ResourceSpans]) -> int:
    """Adds all spans; their number. Raises BadRecordError for an id of another length than OTLP's, and adds nothing
    then."""
    rows = Rows()
    for resource_spans in resources:
        attributes = _pairs(resource_spans.resource.attributes, memory.of_resources)
        resource = memory.resource(dict(reversed(attributes)))
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                _add(rows, memory, resource, scope_spans.scope.name, span)
    memory.columns.add(rows)
    return len(rows.ids)


def _add(rows: Rows, memory: Memory, resource: int, scope: str, span: Span) -> None:
    trace_id, span_id, parent = span.trace_id, span.span_id, span.parent_span_id or bytes(8)
    if len(trace_id) != 16 or len(span_id) != 8 or len(parent) != 8:
        raise BadRecordError("has an id that is not of 16 (trace) or 8 bytes (span)")
    rows.traces.append(trace_id)
    rows.ids.append(span_id)
    rows.parents.append(parent)
    rows.starts.append(span.start_time_unix_nano)
    rows.ends.append(span.end_time_unix_nano)
    rows.linked.append(int(any(link.trace_id == trace_id for link in span.links)))
    names = memory.of_callers if span.kind in (CLIENT, PRODUCER) else memory.names
    pairs = tuple(
        [
            (name, memory.shorten[name](value)) if name in memory.shorten and isinstance(value, str) else (name, value)
            for name, value in _pairs(span.attributes, names)
        ]
    )
    if span.trace_state:
        pairs = (*pairs, (THRESHOLD, threshold_of(span.trace_state)))
    failed = span.status.code == Status.STATUS_CODE_ERROR
    exceeded_ns = memory.rules.exceeded(rows.ends[-1] - rows.starts[-1])
    key = ("pb", resource, scope, span.name, span.kind, failed, pairs, exceeded_ns)
    number = memory.known.get(key)
    if number is None:
        number = memory.learn(
            key, resource, lambda: Description(span.kind, span.name, scope, failed, pairs, exceeded_ns)
        )
    rows.facts.append(number)


def _pairs(attributes: Iterable[KeyValue], names: frozenset[str]) -> tuple[tuple[str, Value], ...]:
    pairs = []
    for attribute in attributes:
        if attribute.key in names:
            value = attribute.value
            if value.array_value.values:
                value = value.array_value.values[0]  # a captured header
            kind = value.WhichOneof("value")
            if kind in _TYPES:
                pairs.append((attribute.key, getattr(value, kind)))
    return tuple(pairs)
