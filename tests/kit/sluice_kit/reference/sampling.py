"""`service_sampling`: what the spans of each service say, and their trace ids show, of samplers."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sluice_kit.reference.clocks import WINDOW_MS
from sluice_kit.reference.spans import Span

MOST = 2**63 - 1

#: service, start of the window in s
Key = tuple[str, int]


@dataclass
class Sampling:
    spans: int = 0
    stated: int = 0
    adjusted: int = 0
    tail: int = 0
    last_bytes: dict[int, int] = field(default_factory=dict)
    most_64: int = 0
    most_63: int = 0
    most_56: int = 0
    most_32: int = 0
    most_head: int = 0
    least_64: int = MOST
    least_head: int = MOST


def sampling(spans: Iterable[Span]) -> dict[Key, Sampling]:
    table: dict[Key, Sampling] = {}
    for span in spans:
        row = table.setdefault((span.service, span.received_ms // WINDOW_MS * WINDOW_MS // 1000), Sampling())
        row.spans += 1
        row.stated += span.said.sampled
        row.adjusted += span.said.adjusted
        row.tail += span.said.tail
        _add(row, span.trace_id)
    return table


def _add(row: Sampling, trace_id: bytes) -> None:
    last = trace_id[-1]
    row.last_bytes[last] = row.last_bytes.get(last, 0) + 1
    tail = int.from_bytes(trace_id[8:], "big")
    size = min(abs(int.from_bytes(trace_id[:8], "big", signed=True)), MOST)
    words = 0
    for at in range(0, 16, 4):
        words ^= int.from_bytes(trace_id[at : at + 4], "big")
    row.most_64 = max(row.most_64, tail // 2)
    row.most_63 = max(row.most_63, tail % 2**63)
    row.most_56 = max(row.most_56, (2**56 - 1 - tail % 2**56) * 128)
    row.most_32 = max(row.most_32, words * 2**31)
    row.most_head = max(row.most_head, size)
    row.least_64 = min(row.least_64, tail // 2)
    row.least_head = min(row.least_head, size)
