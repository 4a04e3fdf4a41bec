"""Reading what is new amounts to reading everything, whatever is written, in whatever order: on the real engine."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clickhouse_connect.driver.external import ExternalData

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector, PoolWindow, Window
from sluice.pools.windows.latency import last_index_within
from sluice.pools.windows.newest import newest
from sluice.pools.windows.query import ENGINE_SQL, NUMBERED, keys
from sluice.pools.windows.rows import WindowRows, complete_before

pytestmark = pytest.mark.integration

ALL = Path(__file__).with_name("all_windows.sql").read_text(encoding="utf-8")
BUCKET_MS, MS = 100, 10**6
START_MS = 1_800_000_000_000
FIELDS = ("concurrency", "goodput_per_s", "throughput_per_s", "completions")
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]
# Cart is called by two services and calls a database and mail, which it shares with orders.
PARTS = [
    *(("server", "cart", ""), ("server", "orders", ""), ("client", "web", "cart"), ("client", "orders", "cart")),
    *(("client", "cart", "db"), ("client", "cart", "mail"), ("client", "orders", "mail"), ("client", "web", "unknown")),
]
POOLS = [
    *(("cart", "server", ""), ("orders", "server", ""), ("cart", "client", "db"), ("cart", "client", "mail")),
    *(("orders", "client", "mail"), ("absent", "server", "")),
]
CONFIG = Config.model_validate(
    {
        "window": "10s",
        "settle": "1s",
        "stored_bucket": "100ms",
        "pools": [
            {"service": service, "side": side, "peer": peer, "threshold": "100ms", "bucket": bucket}
            for (service, side, peer), bucket in zip(POOLS, ("100ms", "200ms", "auto") * 2, strict=True)
        ],
    }
)
NO_ROWS = WindowRows(*[np.zeros(0, dtype=np.int64)] * 8)
KEYS = [PoolKey(*one) for one in POOLS]  # type: ignore[arg-type]


def whole(client: Any, thresholds: dict[PoolKey, int], now_ms: int) -> dict[PoolKey, PoolWindow | None]:
    """Everything read anew, with the query as it stands beside this file."""
    requests = [(i, key, last_index_within(thresholds[key])) for i, key in enumerate(KEYS)]
    table = keys(requests)
    data = "\n".join("\t".join(map(str, row)) for row in table.rows).encode()
    sent = ExternalData(file_name=table.name, data=data, fmt="TSV", structure=list(table.columns))
    from_ms = now_ms - int(CONFIG.window + CONFIG.settle) - 10_000
    span = {"from_ms": from_ms, "to_ms": now_ms, "bucket_ms": BUCKET_MS}
    columns = client.query_np(ALL, parameters=span, external_data=sent).T
    found: dict[PoolKey, PoolWindow | None] = {}
    for number, pool in enumerate(CONFIG.pools):
        rows = WindowRows(*(column[columns[0] == number] for column in columns[1:])) if len(columns) else NO_ROWS
        found[pool.key] = newest(rows, pool, CONFIG, complete_before(rows, now_ms, 1_000), None)
    return found


class Writer:
    """Writes rows of random parts, ages and sizes; some twice, some again with another version, some emptied."""

    def __init__(self, client: Any, rng: np.random.Generator) -> None:
        self._client, self._rng = client, rng
        self._written: list[list[Any]] = []

    def write(self, now_ms: int) -> None:
        newest = [self._row(now_ms, age) for age in self._rng.integers(-20, 60, self._rng.integers(0, 200))]
        late = [self._row(now_ms, age) for age in self._rng.integers(60, 260, self._rng.integers(0, 20))]
        repeated = [self._again(row) for row in self._some(self._written, 20)]
        rows = [*newest, *late, *repeated]
        if rows:
            self._client.insert("windows", rows, column_names=COLUMNS)
        self._written = (self._written + rows)[-2_000:]

    def _row(self, now_ms: int, age: int) -> list[Any]:
        """age: in buckets; below 0, of a service whose clock is ahead."""
        side, service, peer = PARTS[self._rng.integers(len(PARTS))]
        good, bad = self._rng.integers(0, 4, 2).tolist()
        bucket = datetime.fromtimestamp((now_ms // BUCKET_MS - int(age)) * BUCKET_MS / 1000, UTC)
        latency = {last_index_within(50 * MS): good, last_index_within(150 * MS): bad}
        busy_ns = int(self._rng.integers(0, 5)) * 10**8
        instance, version = f"i{self._rng.integers(2)}", int(self._rng.integers(1, 5))
        return [side, service, peer, instance, bucket, BUCKET_MS, busy_ns, good + bad, 0, latency, version]

    def _again(self, row: list[Any]) -> list[Any]:
        """The same row; or a later version of it, of which some are empty; or an older one."""
        grown = int(self._rng.integers(-1, 3))
        if grown == 0:
            return row
        empty = bool(self._rng.random() < 0.3)
        busy_ns, count = (0, 0) if empty else (row[6] + 10**8, row[7] + 2)
        latency = {} if empty else {**row[9], last_index_within(50 * MS): row[9].get(last_index_within(50 * MS), 0) + 2}
        return [*row[:6], busy_ns, count, 0, latency, max(1, row[10] + grown)]

    def _some(self, rows: list[list[Any]], most: int) -> list[list[Any]]:
        return [rows[i] for i in self._rng.integers(0, len(rows), self._rng.integers(0, most))] if rows else []


def assert_same(found: Mapping[PoolKey, PoolWindow | None], expected: dict[PoolKey, PoolWindow | None]) -> int:
    """Of those that are judged; the number of pools with something to compare."""
    for key, other in found.items():
        one = expected[key]
        if one is None or other is None:
            assert (one, other) == (None, None)
            continue
        assert other.bucket_start_ms.tolist() == one.bucket_start_ms.tolist()
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(other.samples, name), getattr(one.samples, name))
        assert other.samples.instances == one.samples.instances
        assert other.samples.caller_judged == one.samples.caller_judged
        assert (other.bucket_ms, other.reasons) == (one.bucket_ms, one.reasons)
    return sum(one is not None for one in expected.values())


def assert_same_buckets(found: Window, expected: Window, judged: Collection[PoolKey]) -> int:
    """Of the pools and of each instance; the number of buckets. judged: those with completions in time."""
    for key in KEYS:
        one, other = found.complete[key], expected.complete[key]
        if one is not None and other is not None:
            middle = len(one) // 2
            new, every = found.since(key, one, int(one.start_ms[middle])), expected.since(key, other, -1)
            for name in ("good", "callers"):
                shown = getattr(every, name) if key in judged else np.full(len(one), np.nan)
                np.testing.assert_array_equal(getattr(new, name), shown[middle + 1 :])
            np.testing.assert_array_equal(new.waiting, every.waiting[middle + 1 :])
    wholes = [(found.complete[key], expected.complete[key]) for key in KEYS]
    for key in KEYS:
        ours, others = (window.by_instance(key, ["i0", "i1", "i2"]) for window in (found, expected))
        assert ours.keys() == others.keys()
        wholes += [(ours[name], others[name]) for name in ours]
    for one, other in wholes:
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            for name in ("start_ms", "concurrency", "completions", "instances", "waiting"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    return sum(len(one) for one, _ in wholes if one is not None)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_what_is_new_amounts_to_everything(database: Any, seed: int) -> None:
    """Thresholds move, other pools are judged, parts are merged, periods bring nothing or are longer than the window,
    the clock is set back."""
    rng = np.random.default_rng(seed)
    client, reader = database.client("sluice"), ClickHouse(database.url, READER)
    writer, collector = Writer(client, rng), Collector(reader)
    now_ms, compared, buckets = START_MS + seed * 86_400_000 - 30_000, 0, 0
    thresholds, judged = dict.fromkeys(KEYS, 100 * MS), list(KEYS)
    for _ in range(40):
        now_ms += int(rng.choice((0, 70, 500, 1_000, 5_000, -300, 40_000), p=(0.05, 0.2, 0.3, 0.3, 0.1, 0.03, 0.02)))
        for _ in range(rng.integers(0, 3)):
            writer.write(now_ms)
        if rng.random() < 0.2:
            client.command("OPTIMIZE TABLE windows FINAL")
        if rng.random() < 0.2:
            thresholds[KEYS[rng.integers(len(KEYS))]] = int(rng.choice((40, 100, 200))) * MS
        if rng.random() < 0.2:
            judged = [key for key in KEYS if rng.random() < 0.6]
        collector._intervals_ms.clear()  # nothing is in force in what is compared with
        window = collector.collect(CONFIG, {key: thresholds[key] for key in judged}, now_ms)
        assert list(window.pools) == judged
        compared += assert_same(window.pools, whole(client, thresholds, now_ms))
        buckets += assert_same_buckets(window, Collector(reader).collect(CONFIG, thresholds, now_ms), judged)
    assert compared > 100
    assert buckets > 10_000


def test_a_judged_pool_has_its_completions_in_time_and_its_callers(database: Any) -> None:
    """10 completions in each of 40 buckets, 8 of them within 50 ms by the pool's own spans and 4 by its callers', of
    whom 3 are in flight. Another threshold is judged by the same rows."""
    client, collector = database.client("sluice"), Collector(ClickHouse(database.url, READER))
    now_ms, key = START_MS + 10 * 86_400_000, KEYS[0]
    fast, slow = last_index_within(50 * MS), last_index_within(150 * MS)
    rows = []
    for at in range(40):
        bucket = datetime.fromtimestamp((now_ms - 4_000 + at * BUCKET_MS) / 1_000, UTC)
        of_own = ["server", "cart", "", "i0", bucket, BUCKET_MS, 2 * 10**8, 10, 0, {fast: 8, slow: 2}, 1]
        of_callers = ["client", "web", "cart", "w0", bucket, BUCKET_MS, 3 * 10**8, 10, 0, {fast: 4, slow: 6}, 1]
        rows += [of_own, of_callers]
    client.insert("windows", rows, column_names=COLUMNS)

    def seen(thresholds: dict[PoolKey, int]) -> tuple[set[float], set[float]]:
        window = collector.collect(CONFIG, thresholds, now_ms)
        buckets = window.complete[key]
        assert buckets is not None
        assert len(buckets) >= 20
        found = window.since(key, buckets, -1)
        return set(found.good.round(9).tolist()), set(found.callers.tolist())

    assert seen({key: 100 * MS}) == ({4.0}, {3.0})
    assert seen({key: 200 * MS}) == ({10.0}, {3.0})
    good, callers = seen({})
    assert np.isnan([*good, *callers]).all()


def test_the_reading_user_can_tell_that_inserts_are_numbered(database: Any) -> None:
    """Else every period would read everything, in silence."""
    assert ClickHouse(database.url, READER).columns(ENGINE_SQL, {}) == [[NUMBERED]]
