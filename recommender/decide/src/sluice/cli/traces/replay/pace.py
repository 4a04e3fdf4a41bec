"""Computes when each trace is due, and groups traces into requests."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from sluice.cli.traces.replay.trace import Trace

#: A due trace waits at most this long for others, to share a request.
LINGER_S = 0.1


@dataclass
class Batch:
    """Spans of one request, and the number of traces that end in it."""

    resource_spans: list[ResourceSpans] = field(default_factory=list)
    spans: int = 0
    traces: int = 0


def due_s(end_ns: int, first_start_ns: int, speed: float | None) -> float:
    """Seconds from the start of the replay until a trace that ended at `end_ns` is due.

    (end - first start) / speed: at speed 10, a trace that ended 5 s after the first span started is due after 0.5 s.
    speed None: at once.
    """
    return 0.0 if speed is None else (end_ns - first_start_ns) / 1e9 / speed


def paced(
    traces: Iterable[tuple[float, Trace]],
    batch_spans: int,
    now_s: Callable[[], float],
    wait_s: Callable[[float], bool],
) -> Iterator[Batch]:
    """Groups (due, trace), ordered by due, into batches of at most `batch_spans` spans, and yields each when due.

    `now_s` counts from the start of the replay. `wait_s` waits that many seconds; it returns False when the replay is
    to stop, and the iteration then ends with the traces already due. A batch is complete when it is full, or when the
    next trace is due more than LINGER_S after its first one.
    """
    batch = Batch()
    opened_s = 0.0
    for due_at_s, trace in traces:
        if batch.spans and due_at_s > opened_s + LINGER_S:
            yield batch
            batch = Batch()
        if (ahead := due_at_s - now_s()) > 0 and not wait_s(ahead):
            break
        if not batch.spans:
            opened_s = due_at_s
        for piece, spans in _pieces(trace, batch_spans):
            if batch.spans + spans > batch_spans:
                yield batch
                batch, opened_s = Batch(), due_at_s
            batch.resource_spans.append(piece)
            batch.spans += spans
        batch.traces += 1
    if batch.spans:
        yield batch


def _pieces(trace: Trace, batch_spans: int) -> Iterator[tuple[ResourceSpans, int]]:
    """The trace's resources. A resource larger than a request is split into pieces of at most `batch_spans` spans."""
    for resource in trace.resource_spans:
        spans = sum(len(scope.spans) for scope in resource.scope_spans)
        if spans <= batch_spans:
            yield resource, spans
            continue
        for scope in resource.scope_spans:
            for begin in range(0, len(scope.spans), batch_spans):
                part = scope.spans[begin : begin + batch_spans]
                piece = ScopeSpans(scope=scope.scope, schema_url=scope.schema_url, spans=part)
                yield (
                    ResourceSpans(resource=resource.resource, schema_url=resource.schema_url, scope_spans=[piece]),
                    len(part),
                )
