"""`instance_clocks`: how long after their ends the spans of each instance came, per 10 s of the log's time."""

from collections.abc import Iterable
from dataclasses import dataclass

from sluice_kit.reference.spans import MS, Span

WINDOW_MS = 10_000

#: service, instance, start of the window in s
Key = tuple[str, str, int]


@dataclass
class Delays:
    spans: int
    least_ms: int
    sum_ms: int


def clocks(spans: Iterable[Span]) -> dict[Key, Delays]:
    table: dict[Key, Delays] = {}
    for span in spans:
        key = (span.service, span.instance, span.received_ms // WINDOW_MS * WINDOW_MS // 1000)
        delay_ms = span.received_ms - span.end_ns // MS
        row = table.setdefault(key, Delays(0, delay_ms, 0))
        row.spans += 1
        row.least_ms = min(row.least_ms, delay_ms)
        row.sum_ms += delay_ms
    return table
