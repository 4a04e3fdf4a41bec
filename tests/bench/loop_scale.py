"""Control periods of 10,000 pools in one decider, beside the bar of 5 s: from windows in memory, and from ClickHouse.

Sizes of all pools are reported in each period and stay as they are, whatever is decided; windows go on. The first
period reads and learns all that there is, the later ones what came in 5 s. The log is a real broker's. Then another
decider takes over, with the states as they were recorded after the first period: it reads all that there is and learns
what came since.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import numpy as np
from confluent_kafka import Producer

from bench.loaded_windows import BUCKETS, Loaded
from humps import Samples, draw_samples, draw_service
from migrate.__main__ import schema_up
from sluice.collect import Collector, Window
from sluice.collect.native import Arrays, Column
from sluice.collect.query import Table
from sluice.collect.whole import Whole, whole
from sluice.collect.window import OnDemand
from sluice.config import Config
from sluice.control.clickhouse import READER, ClickHouse
from sluice.control.deciding import Means
from sluice.control.garbage import search_rarely
from sluice.control.loop import Loop
from sluice.control.spread import Spread
from sluice.core.keys import PoolKey
from sluice.log.kafka_broker import KafkaBroker
from sluice.log.names import message_of, pool_name, topics
from sluice.log.record import Part, Ref
from sluice.log.shard import Commit, Heartbeat, Identity
from sluice.log.shards import Shards
from sluice.log.told import timestamp
from sluice.pools.estimate.belief.prepare import prepare
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.v1.log_pb2 import ObservedSize
from sluice.pools.v1.pool_size_pb2 import TargetSize
from support.clickhouse import clickhouse
from support.kafka import Kafka, kafka
from support.waiting import until

POOLS, QUICK_POOLS = 10_000, 100
# Different curves; the others repeat them.
CURVES = 100
BAR_S = 5.0
PERIOD_S = 5
PERIODS = 3
"""After the first; the median is told."""
PARTS: tuple[Part, ...] = ("facts", "evidence")
BUCKET_MS = 100
NOW_MS = 1_800_000_000_000
DELAY_MS = 1_000
"""How far behind the newest bucket those in memory are whole; from ClickHouse it is measured, and as much at least."""
FULL_SHARE = 0.2
"""Of the buckets a pool is full in."""


class Collects(Protocol):
    spent_s: float

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window: ...


@dataclass(frozen=True)
class Drawn:
    """What a pool does, over and over, and its size."""

    samples: Samples
    size: int

    def last(self, now_ms: int) -> Whole | None:
        """Its newest buckets, as many as are kept."""
        end = now_ms // BUCKET_MS
        at = np.arange(end - BUCKETS, end)
        of = at % len(self.samples.concurrency)
        busy_ns = np.maximum(self.samples.concurrency[of] * BUCKET_MS * 1e6, 1).astype(np.int64)[None]
        completions = self.samples.completions[of].astype(np.int64)[None]
        return whole(at * BUCKET_MS, busy_ns, completions, now_ms - DELAY_MS, BUCKET_MS)


@dataclass
class Held:
    """Stands in for the collector: windows are in memory, and are summed when they are asked for, as they are there."""

    drawn: list[Drawn]
    spent_s: float = 0.0

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        return {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.spent_s = 0.0
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        of = OnDemand(numbers, lambda number: self.drawn[number % CURVES].last(now_ms))
        return Window(OnDemand(numbers, lambda number: None), Timed(self, of))


class Queried(Collector):
    """The real one, on a real ClickHouse. Its clock stands at `now_ms`, up to which windows are written."""

    def __init__(self, url: str) -> None:
        self.database = Counted(url, READER)
        super().__init__(self.database)
        self.now_ms = NOW_MS
        self.spent_s = 0.0

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.database.queries, self.database.returned, self.database.spent_s = 0, 0, 0.0
        begun = time.perf_counter()
        window = super().collect(config, thresholds_ns, self.now_ms, live)
        self.spent_s = time.perf_counter() - begun
        return replace(window, whole=Timed(self, window.whole))


class Counted(ClickHouse):
    queries, returned, spent_s = 0, 0, 0.0

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        begun = time.perf_counter()
        columns = super().arrays(sql, parameters, table)
        self.spent_s += time.perf_counter() - begun
        self.queries += 1
        self.returned += next((len(one.values) for one in columns if isinstance(one, Arrays)), 0)
        return columns


@dataclass(frozen=True)
class Timed(Mapping[PoolKey, Whole | None]):
    """Buckets are made when they are asked for: that is reading too."""

    of: Collects
    windows: Mapping[PoolKey, Whole | None]

    def __getitem__(self, key: PoolKey) -> Whole | None:
        begun = time.perf_counter()
        found = self.windows[key]
        self.of.spent_s += time.perf_counter() - begun
        return found

    def __iter__(self) -> Iterator[PoolKey]:
        return iter(self.windows)

    def __len__(self) -> int:
        return len(self.windows)


class Deciders:
    """One after the other on a log of a real broker, with the time that the newest commit took."""

    def __init__(self, broker: Kafka, config: Config, drawn: list[Drawn]) -> None:
        self._topics = topics(f"{uuid4().hex[:8]}_")
        broker.log(self._topics.state.removesuffix("state"), 1)
        self._bootstrap, self._config = broker.bootstrap, config
        self._sizes = [(pool_name(pool.key, "target/"), pool.key, drawn[i % len(drawn)].size)
                       for i, pool in enumerate(config.pools)]  # fmt: skip
        self._server = Producer({"bootstrap.servers": broker.bootstrap, "queue.buffering.max.messages": 1_000_000})
        self.now_ms, self.committing_s = NOW_MS, 0.0

    @contextmanager
    def one(self, collector: Collects, spread: Spread) -> Iterator[Loop]:
        client = KafkaBroker(self._bootstrap, self._topics)
        shards = Shards(client, self._topics, Identity("bench", 1, 0))
        means = Means(spread=spread, alive=shards.alive)
        loop = Loop(self._config, shards, lambda: collector, lambda: self.now_ms, means)
        if isinstance(collector, Queried):
            collector.database.answered = shards.alive
        until("it has the shard", lambda: loop.own(0.1) or bool(loop.deciders))
        log = shards.owned[0]
        commit = log.commit

        def timed(what: Commit) -> bool:
            begun = time.perf_counter()
            written = commit(what)
            self.committing_s = time.perf_counter() - begun
            return written

        log.commit = timed  # type: ignore[method-assign]
        yield loop
        shards.close()
        client.close()

    def observe(self, loop: Loop) -> None:
        """Sizes of all pools, as actuators report them."""
        for name, key, size in self._sizes:
            read = TargetSize(instance="instance-1", size=size, read_at=timestamp(self.now_ms))
            observed = ObservedSize(pool=message_of(key), size=read)
            self._server.produce(self._topics.observed, observed.SerializeToString(), f"{name}/instance-1", partition=0)
            self._server.poll(0)
        self._server.flush()
        log = loop.shards.owned[0]
        until("all sizes came", lambda: len(log.received(0.2).observed) == len(self._sizes))

    def record(self, loop: Loop) -> None:
        """All states at once, which are else spread over a minute."""
        log, decider = loop.shards.owned[0], loop.deciders[0]
        states = {Ref(part, key): state for key, state in decider.states.items() for part in PARTS}
        log.commit(Commit(log.received(), Heartbeat(self.now_ms, 30_000), states=states))


@dataclass(frozen=True)
class Period:
    """cpu_s: of all processes of the decider."""

    spent_s: float
    reading_s: float
    committing_s: float
    cpu_s: float

    @property
    def deciding_s(self) -> float:
        return self.spent_s - self.reading_s - self.committing_s


def draw(curves: int = CURVES) -> list[Drawn]:
    """Bursts up to three times the best size, of which the pool lets in what it has room for."""
    rng = np.random.default_rng(1)
    drawn = []
    for service in (draw_service(rng) for _ in range(curves)):
        samples = draw_samples(rng, service, highest=3.0 * service.best())
        size = max(1, int(np.quantile(samples.concurrency, 1 - FULL_SHARE)))
        done = np.minimum(samples.completions, rng.poisson(service.throughput(np.full(1, float(size))) / 10))
        done = np.where(samples.concurrency > size, done, samples.completions)
        good = np.minimum(samples.goodput_per_s, 10 * done)
        concurrency = np.minimum(samples.concurrency, size)
        drawn.append(Drawn(replace(samples, concurrency=concurrency, completions=done, goodput_per_s=good), size))
    return drawn


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    search_rarely()
    prepare()
    pools, drawn = QUICK_POOLS if quick else POOLS, draw()
    given = [{"service": f"service-{i:05}", "side": "server", "threshold": "100ms"} for i in range(pools)]
    config = Config.model_validate({"pools": given})
    held = Held(drawn)
    return [
        *rows(f"{pools:,} pools, windows in memory", pools, periods(config, held, lambda _: held, drawn)),
        *from_clickhouse(config, drawn),
    ]


def from_clickhouse(config: Config, drawn: list[Drawn]) -> list[tuple[str, str]]:
    pools = len(config.pools)
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=30)
        threshold_ns = round((config.pools[0].threshold or 0) * 1e6)
        samples = [each.samples for each in drawn]
        loaded = Loaded(server.client("sluice"), samples, pools, NOW_MS, BUCKET_MS, threshold_ns)
        stored = loaded.fill()
        collector = Queried(server.url)
        written: list[int] = []

        def go_on() -> None:
            written.append(loaded.go_on(PERIOD_S))
            collector.now_ms += 1000 * PERIOD_S

        def another(spread: Spread) -> Queried:
            nonlocal collector
            peaks.append(peaks_mb(spread))
            database = collector.database
            told.append((database.queries, database.returned, database.spent_s, collector.kept_bytes))
            now_ms, collector = collector.now_ms, Queried(server.url)
            collector.now_ms = now_ms
            return collector

        peaks: list[list[float]] = []
        told: list[tuple[int, int, float, int]] = []
        forget_peak()
        found = periods(config, collector, another, drawn, go_on)
    queries, returned, spent_s, kept_bytes = told[0]
    read = f"{stored:,} rows stored, {written[-1]:,} written in a period, {returned:,} returned"
    asked = "1 query" if queries == 1 else f"{queries} queries"
    return [
        *rows(f"{pools:,} pools, from ClickHouse", pools, found),
        (f"of the last period: {asked} ({read})", f"{spent_s:.1f} s"),
        ("rows kept between periods", f"{kept_bytes / 1e6:.0f} MB"),
        ("memory of its processes", " + ".join(f"{each:.0f}" for each in peaks[0]) + f" = {sum(peaks[0]):.0f} MB"),
    ]


def forget_peak() -> None:
    """From here on `peaks_mb` counts."""
    Path("/proc/self/clear_refs").write_text("5")


def peaks_mb(spread: Spread) -> list[float]:
    """Of this process, and of those that decide for it: what each has to itself, and its part of what it shares."""
    return [_peak_mb("self"), *(_proportional_mb(pid) for pid in spread.pids)]


def _peak_mb(pid: int | str) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1000


def _proportional_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("Pss:")[1].split()[0]) / 1000


def cpu_s(spread: Spread) -> float:
    """So far, of this process and of those that decide for it."""
    return time.process_time() + sum(_cpu_s(pid) for pid in spread.pids)


def _cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def periods(
    config: Config,
    collector: Collects,
    another: Callable[[Spread], Collects],
    drawn: list[Drawn],
    go_on: Callable[[], None] = lambda: None,
) -> list[Period]:
    """Of the real loop, the first, those after it, and the first of a process that takes over, whose collector is
    `another`, and is given the `Spread` of the one before. `go_on`: what happens in between."""
    found: list[Period] = []
    with tempfile.TemporaryDirectory() as folder, kafka(Path(folder)) as broker:
        deciders = Deciders(broker, config, drawn)

        def period(loop: Loop, spread: Spread, collector: Collects) -> None:
            deciders.observe(loop)
            begun, cpu = time.perf_counter(), cpu_s(spread)
            loop.periods()
            spent = time.perf_counter() - begun
            found.append(Period(spent, collector.spent_s, deciders.committing_s, cpu_s(spread) - cpu))
            # What fails is logged, and the loop goes on: that would be a fast period.
            answers = [loop.deciders[0].answers[pool.key] for pool in config.pools]
            assert all(answer.computed_at_ms == deciders.now_ms and answer.windows for answer in answers)
            deciders.now_ms += 1000 * PERIOD_S

        # The decider began before the windows that it is given.
        deciders.now_ms = NOW_MS - 1_000_000
        with begun(config) as spread, deciders.one(collector, spread) as loop:
            deciders.now_ms = NOW_MS
            for which in range(PERIODS + 1):
                if which:
                    go_on()
                period(loop, spread, collector)
                if which == 0:
                    deciders.record(loop)
            collector = another(spread)
        go_on()
        with begun(config) as spread, deciders.one(collector, spread) as loop:
            period(loop, spread, collector)
            states = loop.deciders[0].states
    assert {len(state.learnt.full) > 0 for state in states.values()} == {True}
    return found


@contextmanager
def begun(config: Config) -> Iterator[Spread]:
    spread = Spread()
    spread.start(len(config.pools))
    yield spread
    spread.close()


def rows(name: str, pools: int, found: list[Period]) -> list[tuple[str, str]]:
    first, *others, taken_over = found
    later = sorted(others, key=lambda each: each.spent_s)[len(others) // 2]
    return [
        (f"**{name}**: first period, {BUCKETS * BUCKET_MS // 1000} s of windows", f"{first.spent_s:.1f} s"),
        ("of it: reading, deciding, committing", f"{parts(first)}"),
        (f"a later period, {PERIOD_S} s of windows (median of {PERIODS})", f"{later.spent_s:.1f} s"),
        ("of it: reading, deciding, committing", f"{parts(later)}"),
        ("its CPU, a pool and second of windows", f"{later.cpu_s / pools / PERIOD_S * 1e6:.0f} us"),
        ("first period of a process that takes over", f"{taken_over.spent_s:.1f} s"),
        ("of it: reading, deciding, committing", f"{parts(taken_over)}"),
        (f"bar of {BAR_S:.0f} s for {POOLS:,} pools / period", f"{BAR_S * pools / POOLS / later.spent_s:.2f}"),
    ]


def parts(period: Period) -> str:
    return f"{period.reading_s:.1f} s, {period.deciding_s:.1f} s, {period.committing_s:.1f} s"
