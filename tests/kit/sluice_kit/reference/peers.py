"""Which spans count in `windows`, and whom a client span called: the service that its trace shows, where its attributes
do not name one."""

from collections.abc import Iterable, Iterator, Mapping

from sluice_kit.reference.nesting import nested
from sluice_kit.reference.settings import setting
from sluice_kit.reference.spans import Span
from sluice_kit.reference.traces import Trace

FROM_TRACES = bool(setting("peers-from-traces"))


def peers(traces: Iterable[Trace]) -> Iterator[tuple[Span, str]]:
    """Every span that counts, with the peer that `windows` counts it under in the end; "" for spans of other sides.

    A span that its trace had no room for stays where its attributes put it.
    """
    for trace in traces:
        taken = {id(span) for span in taken_back(trace)}
        inner = _inner(trace) if FROM_TRACES else {}
        for span in [*trace.spans.values(), *trace.duplicates]:
            if counts(span) and id(span) not in taken:
                yield span, peer_of(span, trace, inner)
        for span in trace.excess:
            if counts(span):
                yield span, peer_of(span, None)


def counts(span: Span) -> bool:
    """Whether it is in the windows when it is read."""
    return span.counts and not span.nested


def taken_back(trace: Trace) -> list[Span]:
    """Spans that count when they are read, and that the trace shows to be nested."""
    if not FROM_TRACES:
        return []
    return [span for span, _ in _nested(trace) if counts(span)]


def peer_of(span: Span, trace: Trace | None, inner: Mapping[bytes, Span] | None = None) -> str:
    if span.kind not in ("CLIENT", "PRODUCER"):
        return ""
    if span.peer:
        return span.peer
    if trace and FROM_TRACES:
        callee = _callee(span, trace)
        if not callee and inner and span.span_id in inner:
            callee = _callee(inner[span.span_id], trace)
        if callee:
            return callee
    return span.address or "unknown"


def _nested(trace: Trace) -> list[tuple[Span, Span | None]]:
    return list(nested([*trace.spans.values(), *trace.duplicates], trace.spans))


def _inner(trace: Trace) -> dict[bytes, Span]:
    """By the id of a client span: the first of those nested in it whose callee is seen."""
    innermost: dict[bytes, Span] = {}
    for span, outermost in _nested(trace):
        if outermost is None or not _callee(span, trace):
            continue
        other = innermost.get(outermost.span_id)
        if other is None or (span.start_ns, span.span_id) < (other.start_ns, other.span_id):
            innermost[outermost.span_id] = span
    return innermost


def _callee(span: Span, trace: Trace) -> str:
    shown = [child for child in trace.children(span) if child.kind == "SERVER"]
    return min(shown, key=lambda child: (child.start_ns, child.span_id)).service if shown else ""
