"""`spans_left_out`: spans that `windows` does not count, or that rules set apart, and why, per 10 s of their ends."""

from collections.abc import Iterable
from dataclasses import dataclass

from sluice_kit.reference.containers import WINDOW_NS
from sluice_kit.reference.peers import taken_back
from sluice_kit.reference.spans import SIDES, Span
from sluice_kit.reference.traces import Trace

#: side, service, peer, operation, action, rule, start of the window in s
Key = tuple[str, str, str, str, str, str, int]


@dataclass
class LeftOut:
    spans: int = 0
    duration_ns: int = 0


def left_out(spans: Iterable[Span], traces: Iterable[Trace]) -> dict[Key, LeftOut]:
    table: dict[Key, LeftOut] = {}

    def count(span: Span, operation: str, action: str, rule: str) -> None:
        side = SIDES[span.kind]
        peer = span.named_peer or "unknown" if side == "client" else ""
        key = (side, span.service, peer, operation, action, rule, span.end_ns // WINDOW_NS * 10)
        row = table.setdefault(key, LeftOut())
        row.spans += 1
        row.duration_ns += span.duration_ns

    def nested(span: Span) -> None:
        count(span, span.operation if SIDES[span.kind] == "server" else "", "nested", "nested")

    for span in spans:
        if span.use != "held":
            count(span, "" if span.counts else span.operation, span.action, span.rule)
        if span.counts and span.nested:
            nested(span)
    for trace in traces:
        for span in taken_back(trace):
            nested(span)
    return table
