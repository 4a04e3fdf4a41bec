"""Traces as the stream assembles them: the spans of one trace id that came together, each span id once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from support.reference.spans import Span

QUIET_MS = 5_000
MAX_AGE_MS = 60_000
MAX_SPANS = 10_000


@dataclass
class Trace:
    """One session of a trace id. Kept: `spans` by id. Left out: `duplicates`, and `excess` beyond the bound."""

    trace_id: bytes
    spans: dict[bytes, Span] = field(default_factory=dict)
    duplicates: list[Span] = field(default_factory=list)
    excess: list[Span] = field(default_factory=list)

    def add(self, span: Span) -> None:
        if span.span_id in self.spans:
            self.duplicates.append(span)
        elif len(self.spans) == MAX_SPANS:
            self.excess.append(span)
        else:
            self.spans[span.span_id] = span

    def parent(self, span: Span) -> Span | None:
        return self.spans.get(span.parent_id)

    def children(self, span: Span) -> list[Span]:
        return [child for child in self.spans.values() if child.parent_id == span.span_id]


def traces(spans: Iterable[Span]) -> list[Trace]:
    """A trace ends where its id was quiet for 5 s of record time, or 60 s after its first span."""
    by_id: dict[bytes, list[Span]] = {}
    for span in spans:
        by_id.setdefault(span.trace_id, []).append(span)
    found: list[Trace] = []
    for trace_id, of_id in by_id.items():
        first_ms = last_ms = -MAX_AGE_MS
        for span in sorted(of_id, key=lambda span: span.received_ms):
            if span.received_ms >= min(last_ms + QUIET_MS, first_ms + MAX_AGE_MS):
                found.append(Trace(trace_id))
                first_ms = span.received_ms
            last_ms = span.received_ms
            found[-1].add(span)
    return found
