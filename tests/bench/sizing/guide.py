"""From what a span, a series and a pool cost to what an installation needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.sizing.stages import Costs

DAY_S = 86_400
#: Of deciders: CPU of a pool and second of windows, that of ClickHouse for it, and memory; results/loop-scale.md.
DECIDER_US, DECIDER_BYTES = 53 + 115, 1_216_000_000 / 10_000
#: Of a server: without watchers, and one with TLS; results/watchers.md.
SERVER_BYTES, WATCHER_BYTES = 28_000_000, 49_000
#: Spans of one pool: what a guide has to assume. The user's own number replaces it.
SPANS_PER_POOL = 100.0


@dataclass(frozen=True)
class Need:
    """Cores by stage, and bytes a second that Kafka and ClickHouse take, before copies."""

    spans_per_s: float
    cores: Mapping[str, float]
    kafka_bytes_per_s: float
    clickhouse_bytes_per_day: float
    decider_bytes: float


def cores_per_million(costs: Costs) -> dict[str, float]:
    """CPU seconds a million spans, by stage."""
    return {stage: 1e6 * used / costs.spans for stage, used in costs.cpu_s.items()}


def bytes_per_series_day(costs: Costs, whole_s: float) -> float:
    """Of ClickHouse, all tables. `whole_s`: for which series were written."""
    return sum(table.bytes_on_disk for table in costs.tables) / costs.series / whole_s * DAY_S


def need(costs: Costs, whole_s: float, spans_per_s: float, series_per_pool: float = 2.0) -> Need:
    """A rate's needs, in proportion to what was measured. A pool has `series_per_pool` instances."""
    pools = spans_per_s / SPANS_PER_POOL
    cores = {stage: spans_per_s * used / costs.spans for stage, used in costs.cpu_s.items()}
    return Need(
        spans_per_s,
        cores | {"decider": pools * DECIDER_US / 1e6},
        spans_per_s * costs.topic_bytes_per_span,
        pools * series_per_pool * bytes_per_series_day(costs, whole_s),
        pools * DECIDER_BYTES,
    )


def doublings(speeds: Mapping[int, float]) -> list[tuple[int, float]]:
    """(parallelism, its speed by half the parallelism's)."""
    return [(step, speeds[step] / speeds[step // 2]) for step in sorted(speeds) if step // 2 in speeds]


def table(needs: Sequence[Need]) -> str:
    """Markdown: a row a resource, a column a rate."""
    stages = list(needs[0].cores)
    rows = [
        ("", *(f"{need.spans_per_s:,.0f} spans/s" for need in needs)),
        *((f"cores, {stage}", *(f"{need.cores[stage]:.2f}" for need in needs)) for stage in stages),
        ("Kafka, written, a copy", *(f"{need.kafka_bytes_per_s / 1e6:.1f} MB/s" for need in needs)),
        ("Kafka's disk, 6 h, a copy", *(f"{need.kafka_bytes_per_s * 6 * 3600 / 1e9:,.0f} GB" for need in needs)),
        ("ClickHouse's disk, a day, a copy", *(f"{need.clickhouse_bytes_per_day / 1e9:.2f} GB" for need in needs)),
        ("deciders' memory", *(f"{need.decider_bytes / 1e9:.2f} GB" for need in needs)),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * (len(needs) + 1) + "|", *lines[1:]]) + "\n"
