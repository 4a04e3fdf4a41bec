"""Whom a client span called: the service that its trace shows, where its attributes do not name one."""

from collections.abc import Iterable, Iterator

from support.reference.settings import setting
from support.reference.spans import Span
from support.reference.traces import Trace

FROM_TRACES = bool(setting("peers-from-traces"))


def peers(traces: Iterable[Trace]) -> Iterator[tuple[Span, str]]:
    """Every span, with the peer that `windows` counts it under in the end; "" for spans of other sides.

    A span that its trace had no room for stays where its attributes put it.
    """
    for trace in traces:
        for span in [*trace.spans.values(), *trace.duplicates]:
            yield span, peer_of(span, trace)
        for span in trace.excess:
            yield span, peer_of(span, None)


def peer_of(span: Span, trace: Trace | None) -> str:
    if span.kind not in ("CLIENT", "PRODUCER"):
        return ""
    if span.peer:
        return span.peer
    if trace and FROM_TRACES:
        shown = [child for child in trace.children(span) if child.kind == "SERVER"]
        if shown:
            return min(shown, key=lambda child: (child.start_ns, child.span_id)).service
    return span.address or "unknown"
