"""`windows`: concurrency, completions, errors and latencies of each soft resource, per fine bucket."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from contract.make_latency_index import exact_index
from sluice_kit.reference.settings import setting
from sluice_kit.reference.spans import MS, SIDES, Span

BUCKET_NS = setting("bucket-ms") * MS
MAX_SPREAD_NS = setting("max-spread-ms") * MS

#: side, service, peer, instance, start of the bucket in ms
Key = tuple[str, str, str, str, int]


@dataclass
class Window:
    busy_ns: int = 0
    completions: int = 0
    errors: int = 0
    latency: Counter[int] = field(default_factory=Counter)


def windows(spans: Iterable[tuple[Span, str]]) -> dict[Key, Window]:
    """The table, from spans that count and the peer that each one counts under."""
    table: dict[Key, Window] = {}
    for span, peer in spans:
        if span.kind not in SIDES:
            continue
        side = SIDES[span.kind]

        def window(bucket: int, key: tuple[str, ...] = (side, span.service, peer, span.instance)) -> Window:
            return table.setdefault((*key, bucket * BUCKET_NS // MS), Window())  # type: ignore[arg-type]

        ended = window(span.end_ns // BUCKET_NS)
        ended.completions += 1
        ended.errors += span.error
        ended.latency[exact_index(span.duration_ns)] += 1
        start_ns = max(span.start_ns, span.end_ns - MAX_SPREAD_NS)
        for bucket in range(start_ns // BUCKET_NS, span.end_ns // BUCKET_NS + 1):
            from_ns, to_ns = bucket * BUCKET_NS, (bucket + 1) * BUCKET_NS
            overlap_ns = min(span.end_ns, to_ns) - max(start_ns, from_ns)
            if overlap_ns > 0:
                window(bucket).busy_ns += overlap_ns
    return table


def is_cut(span: Span) -> bool:
    """Whether the span is too long to be spread whole."""
    return span.kind in SIDES and span.counts and span.duration_ns > MAX_SPREAD_NS
