"""Which spans count for a pool: all of its side, or by what they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .pattern import Pattern
from .span import Kind, Span

# Of the spans of acquiring a connection, and of who watches a service.
ACQUIRES = ("pg-pool.connect",)
PROBES = ("POST /jolokia", "GET /actuator/health")
_SIDES = {"server": (Kind.SERVER, Kind.CONSUMER), "client": (Kind.CLIENT, Kind.PRODUCER)}


@dataclass
class Counting:
    """Of the pattern's pool.

    plainly: every SERVER and CONSUMER span, or CLIENT and PRODUCER span towards the peer. Else the outermost SERVER
    spans of the service in each trace, or the CLIENT spans, without those of acquiring and of probes.
    """

    of: type[Pattern]
    plainly: bool = False
    _seen: dict[int, Span] = field(default_factory=dict)

    def own(self, spans: Iterable[Span]) -> list[Span]:
        """Of spans that came at once, those that count. What lies around a span comes with it, or before."""
        mine = [span for span in spans if span.service == self.of.name]
        if self.plainly:
            return [span for span in mine if span.kind in _SIDES[self.of.side] and span.peer == self.of.peer]
        if self.of.side == "client":
            return [
                span
                for span in mine
                if span.kind is Kind.CLIENT and span.peer == self.of.peer and span.name not in ACQUIRES
            ]
        servers = [span for span in mine if span.kind is Kind.SERVER and span.name not in PROBES]
        self._seen = {span.span_id: span for span in servers}
        return [span for span in servers if span.parent_id not in self._seen]

    def callers(self, spans: Iterable[Span]) -> list[Span]:
        """CLIENT spans towards the service; of a client pool, its service's own SERVER spans: who waits for it."""
        if self.of.side == "client":
            return [span for span in spans if span.service == self.of.name and span.kind is Kind.SERVER]
        return [span for span in spans if span.peer == self.of.name and span.kind is Kind.CLIENT]
