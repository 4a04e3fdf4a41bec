"""A control period of 10,000 pools x 600 buckets, beside the bar of 15 s: from rows in memory, and from ClickHouse."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np

from bench.loaded_windows import Loaded
from fakes import FakeHistory
from humps import BUCKETS, Samples, draw_samples, draw_service
from migrate.__main__ import schema_up
from sluice.collect import Collector, Window
from sluice.collect.native import Arrays, Column
from sluice.collect.newest import measure_newest
from sluice.collect.query import Table
from sluice.collect.rows import Rows
from sluice.config import Config
from sluice.control.clickhouse import READER, ClickHouse
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.control.workers import Workers
from sluice.core.keys import PoolKey
from sluice.log.memory import MemoryStateLog
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from support.clickhouse import clickhouse

POOLS, QUICK_POOLS = 10_000, 1_000
# Different curves; the others repeat them.
CURVES = 100
BAR_S = 15.0
PERIOD_S = 15
BUCKET_MS = 100
NOW_MS = 1_800_000_000_000


class Collects(Protocol):
    spent_s: float

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window: ...


class Rowed:
    """Stands in for the collector: the rows are in memory, as after the query."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.spent_s = 0.0

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        return {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        begun = time.perf_counter()
        found = measure_newest(self.rows, config.pools, config, NOW_MS)
        self.spent_s = time.perf_counter() - begun
        return Window(dict(zip((pool.key for pool in config.pools), found, strict=True)))


class Queried(Collector):
    """The real one, on a real ClickHouse. Its clock stands at `now_ms`, up to which windows are written."""

    def __init__(self, url: str) -> None:
        self.database = Counted(url, READER)
        super().__init__(self.database)
        self.now_ms = NOW_MS
        self.spent_s = 0.0

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        self.database.queries, self.database.returned, self.database.spent_s = 0, 0, 0.0
        begun = time.perf_counter()
        window = super().collect(config, thresholds_ns, self.now_ms)
        self.spent_s = time.perf_counter() - begun
        return window


class Counted(ClickHouse):
    queries, returned, spent_s = 0, 0, 0.0

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        begun = time.perf_counter()
        columns = super().arrays(sql, parameters, table)
        self.spent_s += time.perf_counter() - begun
        self.queries += 1
        self.returned += next((len(one.values) for one in columns if isinstance(one, Arrays)), 0)
        return columns


class Timed(Workers):
    spent_s = 0.0

    def run(self, jobs):  # type: ignore[no-untyped-def]
        begun = time.perf_counter()
        outcomes = super().run(jobs)
        self.spent_s = time.perf_counter() - begun
        return outcomes


def draw() -> list[Samples]:
    rng = np.random.default_rng(1)
    services = [draw_service(rng) for _ in range(CURVES)]
    return [draw_samples(rng, service, highest=3.0 * service.best()) for service in services]


def rows_of(drawn: list[Samples], pools: int) -> Rows:
    """One instance each, judged by callers; sorted by pool, as the query gives them."""
    start = NOW_MS - BUCKET_MS * np.arange(BUCKETS, 0, -1)

    def column(one_of) -> np.ndarray:  # type: ignore[no-untyped-def, type-arg]
        each = [np.asarray(one_of(samples)).astype(np.int64) for samples in drawn]
        return np.concatenate([each[i % CURVES] for i in range(pools)])

    good = column(lambda s: np.rint(s.goodput_per_s / 10))
    done = column(lambda s: s.completions)
    return Rows(
        pool=np.repeat(np.arange(pools), BUCKETS),
        bucket_start_ms=np.tile(start, pools),
        busy_ns=column(lambda s: np.maximum(s.concurrency * BUCKET_MS * 1e6, 1)),
        own_completions=done,
        own_good=good,
        instances=np.ones(pools * BUCKETS, dtype=np.int64),
        judge_completions=done,
        judge_good=good,
    )


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    pools, drawn = QUICK_POOLS if quick else POOLS, draw()
    given = [{"service": f"service-{i:05}", "side": "server", "threshold": "100ms"} for i in range(pools)]
    config = Config.model_validate({"pools": given})
    return [
        *period(f"{pools:,} pools x {BUCKETS} buckets, rows in memory", config, Rowed(rows_of(drawn, pools))),
        *from_clickhouse(config, drawn),
    ]


def from_clickhouse(config: Config, drawn: list[Samples]) -> list[tuple[str, str]]:
    pools = len(config.pools)
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=30)
        threshold_ns = round((config.pools[0].threshold or 0) * 1e6)
        loaded = Loaded(server.client("sluice"), drawn, pools, NOW_MS, BUCKET_MS, threshold_ns)
        stored = loaded.fill()
        collector = Queried(server.url)
        written: list[int] = []

        def go_on() -> None:
            written.append(loaded.go_on(PERIOD_S))
            collector.now_ms += 1000 * PERIOD_S

        forget_peak()
        rows = period(f"{pools:,} pools x {BUCKETS} buckets, from ClickHouse", config, collector, go_on)
        database = collector.database
    read = f"{stored:,} rows stored, {written[0]:,} written since the first, {database.returned:,} returned"
    queries = "1 query" if database.queries == 1 else f"{database.queries} queries"
    return [
        *rows,
        (f"of that: {queries} ({read})", f"{database.spent_s:.1f} s"),
        ("rows kept between periods", f"{collector.kept_bytes / 1e6:.0f} MB"),
        ("memory of the process at most, without those that estimate", f"{peak_mb():.0f} MB"),
    ]


def forget_peak() -> None:
    """From here on `peak_mb` counts."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def period(
    name: str, config: Config, collector: Collects, go_on: Callable[[], None] = lambda: None
) -> list[tuple[str, str]]:
    """Two periods of the real loop: the first also starts the processes, reads everything and learns every curve; the
    second compares all of them with their memory. `go_on`: what happens in between."""
    pools, workers, store, clock = len(config.pools), Timed(), Store(), [NOW_MS]
    loop = ControlLoop(
        config, collector, FakeHistory(), MemoryStateLog(), store, Sizes(), lambda: clock[0], workers=workers
    )
    figures = []
    try:
        for which in ("first period", "period"):
            clock[0] += 1000 * PERIOD_S
            begun = time.perf_counter()
            loop.step()
            spent = time.perf_counter() - begun
            figures.append((f"**{name}**: {which}", f"{spent:.1f} s"))
            if which == "first period":
                figures.append(("of it: reading", f"{collector.spent_s:.1f} s"))
                go_on()
    finally:
        workers.close()
    states = [answer.content.state for answer in store.newest()]
    rest = spent - collector.spent_s - workers.spent_s
    return [
        *figures,
        ("of it: estimates, in processes", f"{workers.spent_s:.1f} s"),
        ("of it: the rest", f"{rest:.1f} s"),
        ("pools with a size", f"{states.count('PROVIDED') + states.count('GUARDED'):,}"),
        (f"bar of {BAR_S:.0f} s / period", f"{BAR_S * pools / POOLS / spent:.2f}"),
        ("of it: reading, to samples", f"{collector.spent_s:.1f} s"),
    ]
