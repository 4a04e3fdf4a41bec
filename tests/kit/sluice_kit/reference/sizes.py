"""`data_sizes`: the rows and bytes that spans of each soft resource say, per 10 s of their ends."""

from collections.abc import Iterable
from dataclasses import dataclass

from sluice_kit.reference.containers import WINDOW_NS
from sluice_kit.reference.spans import SIDES, Span

#: side, service, peer, instance, start of the window in s
Key = tuple[str, str, str, str, int]


@dataclass
class Size:
    row_spans: int = 0
    row_sum: int = 0
    byte_spans: int = 0
    byte_sum: int = 0


def sizes(spans: Iterable[Span]) -> dict[Key, Size]:
    """A client span counts under the peer that it names itself."""
    table: dict[Key, Size] = {}
    for span in spans:
        if span.kind not in SIDES or (span.rows is None and span.data_bytes is None):
            continue
        side = SIDES[span.kind]
        peer = span.named_peer or "unknown" if side == "client" else ""
        row = table.setdefault((side, span.service, peer, span.instance, span.end_ns // WINDOW_NS * 10), Size())
        if span.rows is not None:
            row.row_spans += 1
            row.row_sum += span.rows
        if span.data_bytes is not None:
            row.byte_spans += 1
            row.byte_sum += span.data_bytes
    return table
