"""A host whose clock is off is collected as one whose clock is right: on the real engine."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import SQL, Instance, InstanceDelay, delays_of, parameters
from sluice.pools.windows import Collector, Window
from sluice.pools.windows.latency import last_index_within

pytestmark = pytest.mark.integration

BUCKET_MS, INSERTED_MS, MS = 100, 1_000, 10**6
NOW_MS = 1_800_000_000_000
FAST = last_index_within(50 * MS)
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]
STEADY, OFF, UNJUDGED = (PoolKey(name, "server", "") for name in ("steady", "off", "unjudged"))
POOLS = [STEADY, OFF, UNJUDGED, PoolKey("steady", "client", "db"), PoolKey("off", "client", "db")]
CONFIG = Config.model_validate(
    {
        "window": "10s",
        "settle": "1s",
        "stored_bucket": "100ms",
        "pools": [{"service": key.service, "side": key.side, "peer": key.peer, "threshold": "100ms"} for key in POOLS],
    }
)
THRESHOLDS = {key: 100 * MS for key in POOLS if key != UNJUDGED}


def tell(client: Any, now_ms: int, least_ms: Mapping[tuple[str, str], Sequence[int]]) -> None:
    """Of each instance the least delay in each of its newest windows, the newest last."""
    end = now_ms // 10_000 * 10
    rows = [
        [service, instance, datetime.fromtimestamp(end - 10 * back, UTC), 10, 100, ms, 100 * ms, 100]
        for (service, instance), each in least_ms.items()
        for back, ms in enumerate(reversed(each))
    ]
    names = "service instance window window_s spans least_ms sum_ms version"
    client.insert("instance_clocks", rows, column_names=names.split())


def test_what_is_usual_is_a_median_of_a_minute_and_the_least_of_two(database: Any) -> None:
    reader = ClickHouse(database.url, READER)
    assert delays_of(reader.columns(SQL, parameters(NOW_MS))) == {}
    tell(
        database.client("sluice"),
        NOW_MS,
        {
            ("cart", "a"): [150, 900, 900, 900, 900, 900, 900, 300, -5_000, 310, 320, 330, 2_000],
            ("cart", "new"): [-700, -800],
            ("stock", "was"): [200],
        },
    )
    # Of the newest 6, 300, -5,000, 310, 320, 330 and 2,000, the lower middle is 310; 150 is over two minutes old.
    expected = {
        Instance("cart", "a"): InstanceDelay(310, 6, -5_000, 12),
        Instance("cart", "new"): InstanceDelay(-800, 2, -800, 2),
        Instance("stock", "was"): InstanceDelay(200, 1, 200, 1),
    }
    assert delays_of(reader.columns(SQL, parameters(NOW_MS))) == expected
    # Ages count from the newest window, not from this clock.
    assert delays_of(reader.columns(SQL, parameters(NOW_MS + 300_000))) == expected


def rows(rng: np.random.Generator, at_ms: int, off_ms: int) -> list[list[Any]]:
    """A bucket of `steady` and of `off`, which do the same on two instances each. Of `off` one has a clock that is off,
    and so has one that calls it."""
    found = []
    parts = [("server", "{}", "", "i0"), ("server", "{}", "", "i1"), ("client", "{}", "db", "i1")]
    parts += [("client", "web", "{}", "w-{}"), ("client", "web", "{}", "right")]
    for side, service, peer, instance in parts:
        busy_ns, done, failed = int(rng.integers(0, 4)) * 10**8, int(rng.integers(0, 5)), int(rng.integers(0, 2))
        for name in ("steady", "off"):
            who = instance.format(name)
            late_ms = off_ms if (name, who) in (("off", "i1"), ("off", "w-off")) else 0
            bucket = datetime.fromtimestamp((at_ms + late_ms) / 1000, UTC)
            measures = [busy_ns, done, min(failed, done), {FAST: done}, 1 + int(at_ms // BUCKET_MS) % 7]
            found.append([side, service.format(name), peer.format(name), who, bucket, BUCKET_MS, *measures])
    return found


def assert_same(window: Window) -> int:
    """Buckets that were compared."""
    compared = 0
    for one, other in ((POOLS[0], POOLS[1]), (POOLS[3], POOLS[4])):
        ours, theirs = window.complete[one], window.complete[other]
        assert ours is not None
        assert theirs is not None
        for name in ("start_ms", "concurrency", "completions", "errors", "instances"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        measured, expected = window.pools[other], window.pools[one]
        assert measured is not None
        assert expected is not None
        np.testing.assert_array_equal(measured.bucket_start_ms, expected.bucket_start_ms)
        np.testing.assert_array_equal(measured.samples.goodput_per_s, expected.samples.goodput_per_s)
        each = window.by_instance(other, ["i1"])["i1"], window.by_instance(one, ["i1"])["i1"]
        np.testing.assert_array_equal(each[0].start_ms, each[1].start_ms)
        np.testing.assert_array_equal(each[0].concurrency, each[1].concurrency)
        compared += len(ours)
    return compared


@pytest.mark.parametrize("off_ms", [1_000, -9_000])
def test_an_instance_whose_clock_is_off_is_collected_as_if_it_were_right(database: Any, off_ms: int) -> None:
    """Rows come as they are written, some late; the offset is known after a while, and then is another."""
    client, rng = database.client("sluice"), np.random.default_rng(7)
    way_ms = 200
    behind = 6_000 if off_ms < 0 else 0  # as much may be an exporter's
    collector, compared = Collector(ClickHouse(database.url, READER)), 0
    clocks = {("steady", "i0"): [way_ms] * 12, ("steady", "i1"): [way_ms] * 12}
    clocks |= {(name, who): [way_ms - off_ms] * 12 for name, who in (("off", "i1"), ("web", "w-off"))}
    tell(client, NOW_MS, clocks)
    taken_ms = off_ms + behind
    written_ms = NOW_MS - 30_000
    for step in range(8):
        now_ms = NOW_MS + 700 * step
        while written_ms < now_ms:
            ends = range(written_ms, min(now_ms, written_ms + INSERTED_MS), BUCKET_MS)
            inserted = [row for end_ms in ends for row in rows(rng, end_ms, taken_ms)]
            client.insert("windows", inserted, column_names=COLUMNS)
            written_ms = ends[-1] + BUCKET_MS
        if step == 2:
            assert collector.clocks(CONFIG, now_ms) == {
                Instance("off", "i1"): taken_ms,
                Instance("web", "w-off"): taken_ms,
            }
        window = collector.collect(CONFIG, THRESHOLDS, now_ms)
        if step < 2:
            with pytest.raises(AssertionError):
                assert_same(window)
        else:
            compared += assert_same(window)
    assert compared > 1_000
