"""The rows of each source of windows."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.loaded_windows import BUCKETS, Loaded
from bench.loop_scale.found import Finding, fill, named
from bench.loop_scale.limited import in_limits
from bench.loop_scale.period import PERIOD_S, PERIODS, TAKEN_OVER, Period, periods
from bench.loop_scale.processes import forget_peak, memory_mb
from bench.loop_scale.queried import Queried
from bench.loop_scale.windows import BUCKET_MS, NOW_MS, Held, draw
from migrate.__main__ import schema_up
from sluice.config import Config
from sluice.fast.garbage import search_rarely
from sluice.pools.period.spread import Spread
from sluice.pools.policy.prepare import prepare
from sluice_kit.servers.clickhouse import clickhouse

Rows = list[tuple[str, str]]
BAR_S, BAR_POOLS = 5.0, 10_000
SHARDS = 10
"""Of as many pools as the bar has, each decided by itself: what they would take together is told."""
MEMORY = "memory: the decider at most, the server that the others are forked from, and they"
CPU = "SELECT sum(value) / 1e6 FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')"


def in_memory(pools: int) -> Rows:
    config, drawn = _begin(pools), draw()
    held = Held(drawn)
    return _rows(f"{pools:,} pools, windows in memory", pools, periods(config, held, lambda _: held, drawn))


def from_clickhouse(pools: int) -> Rows:
    config, drawn = _begin(pools), draw()
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=30)
        threshold_ns = round((config.pools[0].threshold or 0) * 1e6)
        samples = [item.samples for item in drawn]
        loaded = Loaded(server.client("sluice"), samples, pools, NOW_MS, BUCKET_MS, threshold_ns)
        stored = loaded.fill()
        client = server.client()

        def database_cpu_s() -> float:
            return float(str(client.command(CPU)))

        collector = Queried(server.url, database_cpu_s)
        written: list[int] = []

        def go_on() -> None:
            written.append(loaded.go_on(PERIOD_S))
            collector.now_ms += 1000 * PERIOD_S

        def another(spread: Spread) -> Queried:
            nonlocal collector
            memory.extend(memory_mb(spread))
            database = collector.database
            sizes.append((database.queries, database.returned, database.spent_s, collector.kept_bytes))
            now_ms, collector = collector.now_ms, Queried(server.url, database_cpu_s)
            collector.now_ms = now_ms
            return collector

        memory: list[float] = []
        sizes: list[tuple[int, int, float, int]] = []
        forget_peak()
        result = periods(config, collector, another, drawn, go_on)
    queries, returned, spent_s, kept_bytes = sizes[0]
    read = f"{stored:,} rows stored, {written[-1]:,} written in a period, {returned:,} returned"
    number = "1 query" if queries == 1 else f"{queries} queries"
    return [
        *_rows(f"{pools:,} pools, from ClickHouse", pools, result),
        (f"of a later period: {number} ({read})", f"{spent_s:.1f} s"),
        ("rows kept between periods", f"{kept_bytes / 1e6:.0f} MB"),
        (MEMORY, " + ".join(f"{item:.0f}" for item in memory) + f" = {sum(memory):.0f} MB"),
    ]


def found(pools: int) -> Rows:
    """Pools by three, of services that the deciders find."""
    _begin(0)
    pools, drawn, config = pools // 3 * 3, draw(), named(pools)
    declared = Config.model_validate({"discovery": {"most": pools}})
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=30)
        fill(server, pools, NOW_MS + 60_000)
        finding = Finding(drawn, server.url)

        def another(spread: Spread) -> Finding:
            memory.extend(memory_mb(spread))
            return finding

        forget_peak()
        result = periods(config, finding, another, drawn, declared=declared)
    return [
        *_rows(f"{pools // 3:,} services x 3 pools, found from spans, windows in memory", pools, result),
        ("a reading of candidates, every 20 s, over six hours of rows", f"{max(finding.looks_s):.1f} s"),
        (MEMORY, " + ".join(f"{item:.0f}" for item in memory) + f" = {sum(memory):.0f} MB"),
    ]


SOURCES: dict[str, Callable[[int], Rows]] = {
    "memory": in_memory,
    "clickhouse": from_clickhouse,
    "found": found,
    "limited": in_limits,
}


def _begin(pools: int) -> Config:
    search_rarely()
    prepare()
    given = [{"service": f"service-{i:05}", "side": "server", "threshold": "100ms"} for i in range(pools)]
    return Config.model_validate({"pools": given or "auto"})


def _rows(name: str, pools: int, periods: list[Period]) -> Rows:
    first, others, taken_over = periods[0], periods[1 : 1 + PERIODS], periods[-TAKEN_OVER:]
    later = sorted(others, key=lambda item: item.spent_s)[len(others) // 2]
    of_a_pool = [each_s / pools / PERIOD_S for each_s in later.cpu_s]
    deciders, database = sum(of_a_pool[:2]), of_a_pool[2]
    by_later = [f"{item.spent_s / later.spent_s:.2f}" for item in taken_over]
    cpu_by_later = [f"{sum(item.cpu_s) / sum(later.cpu_s):.2f}" for item in taken_over]
    return [
        (f"**{name}**: first period, {BUCKETS * BUCKET_MS // 1000} s of windows", _parts(first)),
        (f"a later period, {PERIOD_S} s of windows (median of {PERIODS})", _parts(later)),
        (
            "its CPU, a pool and second of windows: the decider, the processes that decide, the database",
            " + ".join(f"{item * 1e6:.0f}" for item in of_a_pool) + " us",
        ),
        (
            f"at that cost {SHARDS * BAR_POOLS:,} pools in {SHARDS} shards: cores of deciders, and of the database",
            f"{deciders * SHARDS * BAR_POOLS:.1f} + {database * SHARDS * BAR_POOLS:.1f}",
        ),
        ("first period of a decider that takes over", _parts(taken_over[0])),
        ("its second period", _parts(taken_over[1])),
        ("these two by a later one", " and ".join(by_later)),
        ("the same in CPU", " and ".join(cpu_by_later)),
        (f"bar of {BAR_S:.0f} s for {BAR_POOLS:,} pools / period", f"{BAR_S * pools / BAR_POOLS / later.spent_s:.2f}"),
    ]


def _parts(period: Period) -> str:
    parts = {
        "reading": period.reading_s,
        "observing": period.observing_s,
        "waiting for steps": period.stepping_s,
        "saying": period.saying_s,
        "committing": period.committing_s,
    }
    shares = ", ".join(f"{name} {spent_s:.1f}" for name, spent_s in parts.items())
    return f"{period.spent_s:.1f} s: {shares}"
