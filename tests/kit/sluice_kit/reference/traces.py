"""Traces as the stream assembles them: the spans of one trace id that came together, each span id once.

A CLIENT and a SERVER span of one id are two spans, of which the SERVER span gets an id of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sluice_kit.reference.settings import setting
from sluice_kit.reference.shared_ids import Ids, apart, key
from sluice_kit.reference.spans import Span

QUIET_MS = setting("trace-quiet-ms")
MAX_AGE_MS = setting("trace-max-age-ms")
MAX_SPANS = setting("trace-max-spans")


@dataclass
class Trace:
    """One session of a trace id, by the record times of its first and of its last span so far.

    Kept: `spans` by id, once it is `closed`. Left out: `duplicates`, and `excess` beyond the bound.
    """

    trace_id: bytes
    first_ms: int
    last_ms: int
    spans: dict[bytes, Span] = field(default_factory=dict)
    duplicates: list[Span] = field(default_factory=list)
    excess: list[Span] = field(default_factory=list)
    _kept: dict[tuple[bytes, bool], Span] = field(default_factory=dict)

    @property
    def due_ms(self) -> int:
        """It is closed then: after 5 s of quiet, or 60 s after its first span."""
        return min(self.last_ms + QUIET_MS, self.first_ms + MAX_AGE_MS)

    @property
    def at_max_age(self) -> bool:
        return self.first_ms + MAX_AGE_MS < self.last_ms + QUIET_MS

    def add(self, span: Span) -> None:
        self.last_ms = span.received_ms
        as_sent = key(span.span_id, span.kind)
        if as_sent in self._kept:
            self.duplicates.append(span)
        elif len(self._kept) == MAX_SPANS:
            self.excess.append(span)
        else:
            self._kept[as_sent] = span

    def closed(self) -> "Trace":
        """With the two sides of a shared id apart; another two spans of one id are repeats."""
        spans = list(self._kept.values())
        ids = apart([Ids(span.span_id, span.parent_id, span.kind, span.service) for span in spans])
        for span, (span_id, parent_id) in zip(spans, ids, strict=True):
            if span_id in self.spans:
                self.duplicates.append(span)
            else:
                self.spans[span_id] = replace(span, span_id=span_id, parent_id=parent_id)
        return self

    def parent(self, span: Span) -> Span | None:
        return self.spans.get(span.parent_id)

    def children(self, span: Span) -> list[Span]:
        return [child for child in self.spans.values() if child.parent_id == span.span_id]


def traces(spans: Iterable[Span]) -> list[Trace]:
    """The sessions of each trace id, one after the other."""
    by_id: dict[bytes, list[Span]] = {}
    for span in spans:
        by_id.setdefault(span.trace_id, []).append(span)
    assembled: list[Trace] = []
    for trace_id, of_id in by_id.items():
        trace: Trace | None = None
        for span in sorted(of_id, key=lambda span: span.received_ms):
            if trace is None or span.received_ms >= trace.due_ms:
                trace = Trace(trace_id, span.received_ms, span.received_ms)
                assembled.append(trace)
            trace.add(span)
    return [trace.closed() for trace in assembled]
