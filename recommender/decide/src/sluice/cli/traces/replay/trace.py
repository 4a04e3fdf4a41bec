"""The unit of a replay: the spans of one trace in one record of a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans


class BadRecordError(Exception):
    """The record is not a trace. The message has the reason and the field."""


@dataclass(frozen=True)
class Trace:
    """Spans of one trace id, grouped by resource, with their number and extent.

    `start_ns` and `end_ns`: earliest start and latest end, in nanoseconds since 1970. Spans that end before their start
    stay as they are.
    """

    resource_spans: tuple[ResourceSpans, ...]
    spans: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class LoneSpan(Trace):
    """One span of a format that lists spans. Its neighbours in the file may be of the same trace."""


def measure(resource_spans: tuple[ResourceSpans, ...]) -> Trace:
    """Counts the spans of one trace and computes their extent. Raises BadRecordError when there are none."""
    spans = 0
    start_ns = end_ns = -1
    for resource in resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                spans += 1
                if start_ns < 0 or span.start_time_unix_nano < start_ns:
                    start_ns = span.start_time_unix_nano
                # A span that ends before it starts must not make the trace due before its start.
                end_ns = max(end_ns, span.end_time_unix_nano, span.start_time_unix_nano)
    if spans == 0:
        raise BadRecordError("has no spans")
    return Trace(resource_spans, spans, start_ns, end_ns)


def joined(parts: Sequence[Trace]) -> Trace:
    """Joins parts of one trace; there must be at least one."""
    return Trace(
        tuple(resource for part in parts for resource in part.resource_spans),
        sum(part.spans for part in parts),
        min(part.start_ns for part in parts),
        max(part.end_ns for part in parts),
    )


def shift(resource_spans: tuple[ResourceSpans, ...], by_ns: int) -> None:
    """Moves every time of the spans by `by_ns`, in place. Times stay within 0 .. 2^64-1."""
    if by_ns == 0:
        return
    for resource in resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                span.start_time_unix_nano = _moved(span.start_time_unix_nano, by_ns)
                span.end_time_unix_nano = _moved(span.end_time_unix_nano, by_ns)
                for event in span.events:
                    event.time_unix_nano = _moved(event.time_unix_nano, by_ns)


def _moved(time_ns: int, by_ns: int) -> int:
    return min(max(time_ns + by_ns, 0), 2**64 - 1)
