"""The query of a control period on the real engine, against rows whose sums are worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config, Pool
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector, PoolWindow
from sluice.pools.windows.latency import last_index_within

pytestmark = pytest.mark.integration

NOW_MS = 1_800_000_000_000  # a whole bucket
MS = 10**6
FAST, SLOW = last_index_within(20 * MS), last_index_within(400 * MS)  # buckets that end at or under 20 and 400 ms
CART = PoolKey("cart", "server", "")
DB = PoolKey("catalogue", "client", "catalogue-db")

COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]


def config(*pools: Pool) -> Config:
    return Config(pools=list(pools)).model_copy(update={"settle": 1_000.0, "window": 10_000.0})


def pool(key: PoolKey) -> Pool:
    return Pool.model_validate({"service": key.service, "side": key.side, "peer": key.peer, "threshold": "100ms"})


def row(
    age_ms: int,
    side: str,
    service: str,
    peer: str,
    instance: str,
    in_flight: float,
    latency: dict[int, int],
    version: int = 1,
    bucket_ms: int = 100,
) -> list[Any]:
    bucket = datetime.fromtimestamp((NOW_MS - age_ms) / 1000, UTC)
    count = sum(latency.values())
    busy_ns = round(in_flight * bucket_ms * MS)
    return [side, service, peer, instance, bucket, bucket_ms, busy_ns, count, 0, latency, version]


@pytest.fixture
def collect(database: Any) -> Any:
    def run(rows: list[list[Any]], *keys: PoolKey) -> dict[PoolKey, PoolWindow | None]:
        if rows:
            database.client("sluice").insert("windows", rows, column_names=COLUMNS)
        pools = [pool(key) for key in keys]
        reader = ClickHouse(database.url, READER)
        return Collector(reader).collect(config(*pools), dict.fromkeys(keys, 100 * MS), NOW_MS).pools

    return run


# A pool's newest bucket and that of its judges decide what is whole: with a settle time of 1 s, buckets from 1100 ms of
# age on count.
NEWEST = [
    row(100, "server", "cart", "", "new-1", 1, {FAST: 1}),
    row(100, "client", "frontend", "cart", "new-1", 1, {FAST: 1}),
    row(100, "client", "catalogue", "catalogue-db", "new-1", 1, {FAST: 1}),
    row(100, "server", "catalogue", "", "new-1", 1, {FAST: 1}),
]


def test_a_server_pool_is_judged_by_its_callers_and_summed_over_instances(collect: Any) -> None:
    found = collect(
        [
            *NEWEST,
            row(2000, "server", "cart", "", "c-1", 3.0, {FAST: 4}),
            row(2000, "server", "cart", "", "c-2", 5.0, {FAST: 4}),
            row(2000, "client", "frontend", "cart", "f-1", 9.0, {FAST: 3, SLOW: 2}),
            row(2000, "client", "orders", "cart", "o-1", 1.0, {FAST: 1}),
            row(2000, "client", "frontend", "catalogue", "f-1", 1.0, {FAST: 50}),
        ],
        CART,
    )[CART]
    # Own concurrency (3 + 5) / 2 instances; goodput (3 + 1) good of 6, in 0.1 s, by 2 instances.
    assert found is not None
    assert found.samples.concurrency.tolist() == [4.0]
    assert found.samples.goodput_per_s.tolist() == [20.0]
    assert found.samples.completions.tolist() == [6.0]
    assert (found.samples.instances, found.samples.caller_judged) == (2, True)
    assert (found.start_ms, found.end_ms) == (NOW_MS - 2000, NOW_MS - 1900)


def test_an_instance_that_only_completed_on_the_border_is_not_counted(collect: Any) -> None:
    """Its span ends exactly where the bucket starts: it completes in the bucket, and was never in flight in it."""
    border = row(2000, "server", "cart", "", "c-2", 0.0, {FAST: 1})
    emptied = row(2000, "server", "cart", "", "c-3", 0.0, {}, version=2)  # by a correction
    found = collect([*NEWEST, row(2000, "server", "cart", "", "c-1", 3.0, {FAST: 4}), border, emptied], CART)[CART]
    # 3 in flight at 1 instance; its own span judge: 4 + 1 in 0.1 s.
    assert found is not None
    assert found.samples.concurrency.tolist() == [3.0]
    assert found.samples.goodput_per_s.tolist() == [50.0]
    assert found.samples.instances == 1


def test_a_client_pool_is_judged_by_the_server_spans_of_its_own_service(collect: Any) -> None:
    found = collect(
        [
            *NEWEST,
            row(2000, "client", "catalogue", "catalogue-db", "k-1", 6.0, {FAST: 9}),
            row(2000, "client", "catalogue", "search", "k-1", 7.0, {FAST: 9}),
            row(2000, "server", "catalogue", "", "k-1", 8.0, {FAST: 2, SLOW: 5}),
            row(2000, "client", "frontend", "catalogue", "f-1", 9.0, {FAST: 30}),
        ],
        DB,
    )[DB]
    assert found is not None
    assert found.samples.concurrency.tolist() == [6.0]
    assert found.samples.goodput_per_s.tolist() == [20.0]


def test_listeners_of_queues_are_a_pool_of_their_own(collect: Any) -> None:
    """14 listeners, always busy with batches of 8 s, beside 16 threads of which 3 serve requests."""
    listeners = PoolKey("cart", "consumer", "")
    found = collect(
        [
            *NEWEST,
            row(100, "consumer", "cart", "", "c-1", 14.0, {}),
            row(2000, "server", "cart", "", "c-1", 3.0, {FAST: 4}),
            row(2000, "consumer", "cart", "", "c-1", 14.0, {FAST: 1, SLOW: 2}),
            row(2000, "client", "frontend", "cart", "f-1", 5.0, {FAST: 3, SLOW: 1}),
        ],
        CART,
        listeners,
    )
    threads, busy = found[CART], found[listeners]
    assert threads is not None
    assert (threads.samples.concurrency.tolist(), threads.samples.completions.tolist()) == ([3.0], [4.0])
    assert threads.samples.caller_judged
    assert busy is not None
    assert (busy.samples.concurrency.tolist(), busy.samples.completions.tolist()) == ([14.0], [3.0])
    # One of its own three in time, in 0.1 s; the callers' CLIENT spans are of requests.
    assert (busy.samples.goodput_per_s.tolist(), busy.samples.caller_judged) == ([10.0], False)


def test_callers_that_are_not_there_yet_cut_the_window(collect: Any) -> None:
    """A caller's rows end 3 s before the pool's own, as those whose peer only traces tell: 1 s more to settle."""
    ages = range(100, 6_000, 100)
    own = [row(age, "server", "cart", "", "c-1", 2.0, {FAST: 3}) for age in ages]
    judges = [row(age, "client", "frontend", "cart", "f-1", 2.0, {FAST: 2}) for age in ages if age >= 3_000]
    found = collect([*own, *judges], CART)[CART]
    assert found is not None
    assert found.end_ms == NOW_MS - 4_000
    assert set(found.samples.goodput_per_s.tolist()) == {20.0}


def test_without_callers_the_pools_own_spans_judge(collect: Any) -> None:
    found = collect([*NEWEST, row(2000, "server", "cart", "", "c-1", 2.0, {FAST: 3, SLOW: 1})], CART)[CART]
    assert found is not None
    assert found.samples.goodput_per_s.tolist() == [30.0]
    assert not found.samples.caller_judged


def test_auto_sums_stored_buckets_and_says_why(database: Any) -> None:
    """60 completions a second: 6 in 100 ms are too few, 12 in 200 ms are enough; load rises over the whole window."""
    ages = range(100, 12_000, 100)
    rows = [row(age, "server", "cart", "", "c-1", 12 - age / 1000, {FAST: 6}) for age in ages]
    database.client("sluice").insert("windows", rows, column_names=COLUMNS)
    given = config(pool(CART)).model_copy(update={"bucket": "auto"})
    found = Collector(ClickHouse(database.url, READER)).collect(given, {CART: 100 * MS}, NOW_MS).pools[CART]
    assert found is not None
    assert (found.bucket_ms, set(found.samples.goodput_per_s.tolist())) == (200, {60.0})
    assert (np.diff(np.sort(found.bucket_start_ms)) == 200).all()
    # Whole from 1.1 s of age on, for 10 s: 11.1 to 1.1 s, of which [11.0, 1.2) s is whole buckets of 200 ms.
    assert (found.start_ms, found.end_ms) == (NOW_MS - 11_000, NOW_MS - 1_200)
    assert [reason.code for reason in found.reasons] == ["BUCKET_AUTO"]
    assert found.reasons[0].text.startswith("200 ms of 100, 200, 500: 12 completions a bucket at best, ")
    fixed = given.model_copy(update={"bucket": 500.0, "stored_bucket": 100.0})
    found = Collector(ClickHouse(database.url, READER)).collect(fixed, {CART: 100 * MS}, NOW_MS).pools[CART]
    assert found is not None
    assert (found.bucket_ms, found.reasons) == (500, ())


def test_the_newest_version_of_a_row_counts_once(collect: Any) -> None:
    rows = [row(2000, "server", "cart", "", "c-1", k, {FAST: k}, version=k) for k in (1, 2, 3)]
    found = collect([*NEWEST, *rows, rows[1]], CART)[CART]
    assert found is not None
    assert found.samples.concurrency.tolist() == [3.0]
    assert found.samples.goodput_per_s.tolist() == [30.0]


def test_buckets_that_are_not_whole_or_outside_the_window_are_cut(collect: Any) -> None:
    ages = (900, 1100, 5000, 11_100, 11_200)
    rows = [row(age, "server", "cart", "", "c-1", age / 1000, {FAST: 1}) for age in ages]
    other_length = row(2000, "server", "cart", "", "c-1", 50.0, {FAST: 9}, bucket_ms=50)
    found = collect([*NEWEST, *rows, other_length], CART)[CART]
    # Whole: 1 s older than the newest bucket (100 ms), that is from 1.2 s on. The window: 10 s before 1.1 s.
    assert found is not None
    assert np.sort(found.samples.concurrency).tolist() == [5.0, 11.1]


def test_a_threshold_counts_whole_histogram_buckets_only(collect: Any) -> None:
    edge = last_index_within(100 * MS)
    found = collect([*NEWEST, row(2000, "server", "cart", "", "c-1", 1, {edge: 2, edge + 1: 7})], CART)[CART]
    assert found is not None
    assert found.samples.goodput_per_s.tolist() == [20.0]


def test_a_service_with_its_clock_ahead_moves_nothing(collect: Any) -> None:
    ahead = row(-3_600_000, "server", "cart", "", "c-2", 1, {FAST: 1})
    found = collect([*NEWEST, ahead, row(2000, "server", "cart", "", "c-1", 2.0, {FAST: 3})], CART)[CART]
    assert found is not None
    assert len(found.samples) == 1


def test_pools_are_kept_apart_and_nothing_is_none(collect: Any) -> None:
    found = collect(
        [
            *NEWEST,
            row(2000, "server", "cart", "", "c-1", 2.0, {FAST: 3}),
            row(2100, "server", "cart", "", "c-1", 4.0, {}),
        ],
        CART,
        DB,
    )
    assert found[DB] is None
    # Something in flight and nothing completed is a real zero; both buckets count.
    assert sorted(found[CART].samples.goodput_per_s.tolist()) == [0.0, 30.0]


def test_an_empty_table_is_no_data(collect: Any) -> None:
    assert collect([], CART, DB) == {CART: None, DB: None}


def test_thousands_of_pools_in_one_query(collect: Any) -> None:
    """Their keys are more than a parameter of a query may be long; names may hold anything."""
    odd = 'shop\'s "cart"\t\\N'
    keys = [PoolKey(f"a-service-with-a-long-name-{i}", "server", "") for i in range(5_000)]
    older, newest = (row(age, "server", odd, "", "i1", 2, {FAST: 3}) for age in (2_000, 500))
    found = collect([older, newest], PoolKey(odd, "server", ""), *keys)
    assert found[PoolKey(odd, "server", "")].completions == 3
    assert sum(one is not None for one in found.values()) == 1


def test_evidence_is_read_for_each_target_by_its_name(database: Any) -> None:
    """Two instances of different sizes; one name holds what is not ASCII, and a caller has the name of one."""
    names = ("c-1", "warenkorb-Ü")
    rows = [
        *(row(age, "server", "cart", "", names[0], 2.0, {FAST: 3}) for age in range(100, 4_000, 100)),
        *(row(age, "server", "cart", "", names[1], 6.0, {FAST: 1}) for age in range(100, 4_000, 200)),
        *(row(age, "client", "frontend", "cart", names[0], 40.0, {FAST: 9}) for age in range(100, 4_000, 100)),
    ]
    database.client("sluice").insert("windows", rows, column_names=COLUMNS)
    found = Collector(ClickHouse(database.url, READER)).collect(config(pool(CART)), {CART: 100 * MS}, NOW_MS)
    each = found.by_instance(CART, [*names, "gone"])
    assert sorted(each) == sorted(names)
    assert set(each["c-1"].concurrency.tolist()) == {2.0}
    assert set(each["c-1"].completions.tolist()) == {3.0}
    assert each[names[1]].concurrency.tolist()[:4] == [6.0, 0.0, 6.0, 0.0]
    together = found.complete[CART]
    assert together is not None
    assert together.concurrency.tolist()[:3] == [4.0, 1.0, 4.0]  # (2 + 6) / 2, (2 + 0) / 2
    assert set(together.instances.tolist()) == {2}
    assert int(together.start_ms[-1]) == NOW_MS - 1_200  # a second behind the newest, which began 100 ms ago


def test_a_past_is_read_in_steps_and_then_the_present(database: Any) -> None:
    """Three minutes that nobody read, a bucket each 100 ms: every one is given once, and the delay is of a new pool."""
    client = database.client("sluice")
    ages = range(100, 180_000, 100)
    client.insert(
        "windows", [row(a, "server", "cart", "", "c-1", a / 1e4, {FAST: 1}) for a in ages], column_names=COLUMNS
    )
    given = config(pool(CART)).model_copy(update={"settle": "auto"})
    collector = Collector(ClickHouse(database.url, READER))
    until_ms, starts = NOW_MS - 170_000, []
    for now_ms in range(NOW_MS - 160_000, NOW_MS + 1, 10_000):
        window = collector.collect(given, {CART: 100 * MS}, now_ms, live=now_ms == NOW_MS)
        whole = window.complete[CART]
        assert whole is not None
        assert whole.known_ms - whole.start_ms[-1] == 1_000 + 2 * 100  # the delay, the last bucket, and the newest one
        new = whole.since(until_ms)
        starts += new.start_ms.tolist()
        until_ms = starts[-1]
    assert starts == list(range(NOW_MS - 169_900, NOW_MS - 1_100, 100))


def test_the_delay_is_measured_on_what_is_written_between_readings(database: Any) -> None:
    """Half of the busy time of each second is there at once, the other 1.5 s later: with the second reading after."""
    client = database.client("sluice")
    given = config(pool(CART)).model_copy(update={"settle": "auto"})
    collector = Collector(ClickHouse(database.url, READER))
    for second in range(40):
        at_ms = 1_000 * second
        new = [row(-at_ms + age, "server", "cart", "", "c-1", 1.0, {}, 1) for age in range(100, 1_100, 100)]
        grown = [row(-at_ms + age, "server", "cart", "", "c-1", 2.0, {FAST: 1}, 2) for age in range(1_600, 2_600, 100)]
        client.insert("windows", new + grown, column_names=COLUMNS)
        window = collector.collect(given, {CART: 100 * MS}, NOW_MS + at_ms)
    # What came last was of 1.6 to 2.5 s before now: 0.5 to 1.4 s behind 1.1 s, the newest of the reading before.
    whole, measured = window.complete[CART], window.pools[CART]
    assert whole is not None
    assert measured is not None
    assert int(whole.start_ms[-1]) == NOW_MS + 39_000 - 100 - 1_400 - 100
    assert whole.known_ms == NOW_MS + 39_000
    assert set(whole.since(NOW_MS).concurrency.tolist()) == {2.0}
    assert measured.end_ms == int(whole.start_ms[-1]) + 100
