"""What is asked for, and of whom, on a database that stands in for the real one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table, TooLargeError
from sluice.model.keys import PoolKey
from sluice.pools.windows import reading
from sluice.pools.windows.query import ENGINE_SQL, NUMBERED, OWN_SQL
from sluice.pools.windows.reading import WindowReader

POOLS = [PoolKey(f"s{i}", "server", "") for i in range(4)]
MS = 10**6


@dataclass
class Inserted:
    """A table of inserts, numbered from 1: (service, bucket, completions); version and insert are one."""

    rows: list[tuple[str, int, int]] = field(default_factory=list)
    asked: list[tuple[list[str], int]] = field(default_factory=list)
    of_own: list[tuple[str, str, str]] = field(default_factory=list)
    most: int = 1_000
    problem: Exception | None = None
    engine: str = NUMBERED
    problem_of_columns: Exception | None = None
    fail_after: int | None = None

    def columns(self, sql: str, parameters: dict[str, Any]) -> list[list[Any]]:
        if self.problem_of_columns is not None:
            raise self.problem_of_columns
        if sql == ENGINE_SQL:
            return [[self.engine]]
        first, until, news = (parameters[name] // 100 for name in ("from_ms", "to_ms", "news_ms"))
        inside = [(number, at) for number, (_, at, _) in enumerate(self.rows, start=1) if first <= at < until]
        new = sum(number > parameters["seen"] or at >= news for number, at in inside)
        return [[max((number for number, _ in inside), default=0)], [new]]

    def arrays(self, sql: str, parameters: dict[str, Any], table: Table) -> list[Column | Arrays]:
        """Answers with its rows one by one, each a source of its own."""
        own = sql == OWN_SQL
        services = {str(row[2 if own else 4]): int(row[0]) for row in table.rows if own or row[2] == 0}
        self.asked.append((list(services), parameters["seen"]))
        if own:
            self.of_own.append((" ".join(parameters["sides"]), str(parameters["least"]), str(parameters["most"])))
        if self.problem is not None:
            raise self.problem
        if self.fail_after is not None:
            self.fail_after -= 1
            if self.fail_after < 0:
                self.fail_after = None
                raise OSError("away")
        if len(services) > self.most:
            raise TooLargeError("memory")
        first, until, before = (parameters[name] // 100 for name in ("from_ms", "to_ms", "before_ms"))
        new = [
            (services[service], number, bucket, done)
            for number, (service, bucket, done) in enumerate(self.rows, start=1)
            if service in services and first <= bucket < until and (number > parameters["seen"] or bucket >= before)
        ]
        if not new:
            return []
        pool, number, bucket, done = np.array(new).T
        one = np.ones(len(new), dtype=np.int64)
        at, busy_ns, version, source = bucket - first, 10**8 * one, number, 1_000 * bucket + done
        if own:
            return [pool, source, number, *(Arrays(one, column) for column in (at, busy_ns, done, 0 * done, version))]
        flat = [at, busy_ns, done, 0 * done, done, version]
        return [pool, 0 * one, source, number, *(Arrays(one, column) for column in flat)]


def read(given: WindowReader, to: int, thresholds_ms: tuple[int | None, ...] = (100,) * 4) -> list[int]:
    """Completions of each pool in the 10 buckets before bucket `to`."""
    limits = [threshold and threshold * MS for threshold in thresholds_ms]
    given.read(POOLS, limits, 100 * (to - 10), 100 * to, 100)
    return completions(given, len(POOLS))


def completions(given: WindowReader, pools: int) -> list[int]:
    return [int(given.rows(pool).own_completions.sum()) for pool in range(pools)]


@pytest.mark.parametrize("engine", ["ReplicatedReplacingMergeTree", "SharedReplacingMergeTree", "Distributed"])
def test_where_inserts_are_not_numbered_by_one_server_everything_is_read(engine: str) -> None:
    database = Inserted([("s0", 95, 3)], engine=engine)
    given = WindowReader(database)
    assert read(given, 100) == [3, 0, 0, 0]
    database.rows.insert(0, ("s1", 96, 5))  # what another replica took comes with a smaller number
    assert read(given, 100) == [3, 5, 0, 0]
    assert [seen for _, seen in database.asked] == [-1, -1]


def test_a_database_that_fails_as_the_pools_change_leaves_nothing_half_changed() -> None:
    database = Inserted([("s0", 95, 3), ("s3", 96, 4)])
    given = WindowReader(database)
    two, limits = POOLS[:2], [100 * MS] * 4
    given.read(two, limits[:2], 9_000, 10_000, 100)
    assert completions(given, 2) == [3, 0]
    database.problem_of_columns = ConnectionError("down")
    with pytest.raises(ConnectionError):
        given.read(POOLS, limits, 9_000, 10_000, 100)
    database.problem_of_columns = None
    assert read(given, 100) == [3, 0, 0, 4]


def test_pools_behind_the_present_ones_are_read_alone() -> None:
    database = Inserted([("s0", 95, 3), ("s1", 96, 4), ("s3", 96, 5)])
    given = WindowReader(database)
    given.read([], [], 9_000, 10_000, 100)
    for count in (2, 4, 4):
        arrived = given.read(POOLS[:count], [100 * MS] * count, 9_000, 10_000, 100)
        assert (completions(given, count), arrived.anew) == ([3, 4, 0, 5][:count], count == 2)
    assert database.asked == [(["s0", "s1"], -1), (["s2", "s3"], -1)]
    database.rows.append(("s2", 97, 6))
    given.read(POOLS, [100 * MS] * 4, 9_000, 10_000, 100)
    assert completions(given, 4) == [3, 4, 6, 5]
    assert database.asked[2:] == [(["s0", "s1", "s2", "s3"], 3)]


def test_after_the_first_reading_only_what_is_new_is_asked_for() -> None:
    database = Inserted([("s0", 95, 3), ("s1", 99, 4)])
    given = WindowReader(database)
    assert read(given, 100) == [3, 4, 0, 0]
    database.rows += [("s0", 96, 5), ("s3", 103, 7)]  # one is late
    assert read(given, 102) == [8, 4, 0, 0]
    # Insert 4, in bucket 103, lay outside then: it is read as soon as it does not.
    assert read(given, 104) == [8, 4, 0, 7]
    everyone = [pool.service for pool in POOLS]
    assert database.asked == [(everyone, -1), (everyone, 2), (everyone, 3)]


def test_a_pool_whose_threshold_moved_is_read_whole_and_the_others_are_not() -> None:
    database = Inserted([("s0", 91, 3), ("s1", 99, 4)])
    given = WindowReader(database)
    read(given, 100)
    database.asked.clear()
    assert read(given, 100, (100, 50, 100, 100)) == [3, 4, 0, 0]
    assert database.asked == [(["s1"], -1)]
    database.rows.append(("s2", 98, 5))
    assert read(given, 100, (50, 50, 100, 100)) == [3, 4, 5, 0]
    assert database.asked[1:] == [(["s1", "s2", "s3"], 2), (["s0"], -1)]


@pytest.mark.parametrize(("few", "asked"), [(4, 0), (3, 1)])
def test_where_nothing_is_new_few_pools_are_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, few: int, asked: int
) -> None:
    monkeypatch.setattr(reading, "FEW", few)
    database = Inserted([("s0", 95, 3), ("other", 97, 1)])
    given = WindowReader(database)
    assert read(given, 100) == [3, 0, 0, 0]
    database.asked.clear()
    assert read(given, 101) == [3, 0, 0, 0]
    assert len(database.asked) == asked
    # What was inserted before, and begins only now.
    database.rows.append(("s0", 104, 5))
    assert read(given, 103) == [3, 0, 0, 0]
    database.asked.clear()
    assert read(given, 105) == [8, 0, 0, 0]
    assert len(database.asked) == 1
    # No row is left in the window, and then one comes.
    assert read(given, 120) == read(given, 121) == [0, 0, 0, 0]
    database.rows.append(("s1", 121, 2))
    assert read(given, 122) == [0, 2, 0, 0]


def test_of_a_pool_that_nobody_judges_its_own_rows_are_read_and_the_others_when_it_is_to_be_judged() -> None:
    database = Inserted([("s0", 91, 3), ("s1", 99, 4)])
    given = WindowReader(database)
    assert read(given, 100, (100, None, None, None)) == [3, 4, 0, 0]
    assert database.asked == [(["s0"], -1), (["s1", "s2", "s3"], -1)]
    assert database.of_own == [("server", "s1", "s3")]
    database.asked.clear()
    database.rows.append(("s1", 100, 5))
    assert read(given, 101, (None, 100, None, None)) == [3, 9, 0, 0]
    assert [services for services, _ in database.asked] == [["s0", "s2", "s3"], ["s1"]]
    assert database.asked[1][1] == -1  # read whole, with its judges, and the one that is no longer judged is not
    database.asked.clear()
    assert read(given, 101, (None, 50, None, 50)) == [3, 9, 0, 0]
    assert [services for services, _ in database.asked] == [["s1", "s3"]]


def test_pools_that_nobody_judges_are_read_in_stretches_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """11 buckets of a row a pool: 22 rows hold two pools. Sides lie apart, and few pools are in one query."""
    monkeypatch.setattr(reading, "MAX_OWN_ROWS", 22)
    monkeypatch.setattr(reading, "FEW", 3)
    keys = [PoolKey("s2", "server", ""), PoolKey("s1", "client", "db"), PoolKey("s0", "server", ""), POOLS[1]]
    database = Inserted([("s2", 91, 3)])
    given = WindowReader(database)
    given.read(keys, [None] * 4, 9_000, 10_000, 100)
    assert completions(given, 4) == [3, 0, 0, 0]
    assert database.of_own == [("server", "s0", "s1"), ("server", "s2", "s2"), ("client", "s1", "s1")]
    monkeypatch.undo()
    database.of_own.clear()
    WindowReader(database).read(keys, [None] * 4, 9_000, 10_000, 100)
    assert database.of_own == [("client server", "s0", "s2")]


def test_a_query_that_is_too_large_is_made_in_halves_down_to_one_pool() -> None:
    database = Inserted([("s0", 91, 3), ("s3", 99, 4)], most=2)
    assert read(WindowReader(database), 100) == [3, 0, 0, 4]
    assert [len(services) for services, _ in database.asked] == [4, 2, 2]
    database.most = 0
    with pytest.raises(TooLargeError):
        read(WindowReader(database), 100)


def test_pools_are_read_whole_in_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """11 buckets of 2 rows a pool: 44 rows hold two pools."""
    monkeypatch.setattr(reading, "MAX_ROWS", 44)
    database = Inserted([("s0", 91, 3), ("s3", 99, 4)])
    given = WindowReader(database)
    assert read(given, 100) == [3, 0, 0, 4]
    assert [services for services, _ in database.asked] == [["s0", "s1"], ["s2", "s3"]]
    database.asked.clear()
    database.rows.append(("s0", 100, 1))
    read(given, 101)  # one bucket more
    assert len(database.asked) == 1


def test_a_period_that_failed_is_made_good_for_by_the_next() -> None:
    database = Inserted([("s0", 91, 3)])
    given = WindowReader(database)
    read(given, 100)
    database.rows += [("s0", 101, 5)]
    database.problem = OSError("away")
    with pytest.raises(OSError, match="away"):
        read(given, 103)
    database.problem = None
    database.rows += [("s1", 104, 1)]
    assert read(given, 105) == [5, 1, 0, 0]


@pytest.mark.parametrize("few", [4, 3])
def test_a_table_that_was_made_anew_is_read_anew(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(reading, "FEW", few)
    database = Inserted([("s0", 91, 3), ("s0", 92, 3), ("s1", 99, 4)])
    given = WindowReader(database)
    read(given, 100)
    database.rows = [("s2", 98, 6)]
    assert read(given, 100) == [0, 0, 6, 0]


def test_a_clock_that_is_set_back_begins_anew() -> None:
    database = Inserted([("s0", 91, 3), ("s1", 99, 4)])
    given = WindowReader(database)
    assert read(given, 100) == [3, 4, 0, 0]
    assert read(given, 95) == [3, 0, 0, 0]


def arrived(
    given: WindowReader, to: int, thresholds_ms: tuple[int, ...] = (100,) * 4
) -> list[tuple[int, int, int]] | None:
    """(pool, bucket, busy ns) of what came; None when nothing was known before."""
    limits = [threshold * MS for threshold in thresholds_ms]
    found = given.read(POOLS, limits, 100 * (to - 10), 100 * to, 100)
    if found.anew:
        assert len(found.pool) == 0
        return None
    return sorted(zip(found.pool.tolist(), (found.start_ms // 100).tolist(), found.busy_ns.tolist(), strict=True))


BUSY = 10**8


def test_what_was_there_at_the_first_reading_is_no_arrival() -> None:
    database = Inserted([("s0", 95, 3)])
    given = WindowReader(database)
    assert arrived(given, 100) is None
    database.rows += [("s0", 96, 5), ("s3", 99, 7)]
    assert arrived(given, 101) == [(0, 96, BUSY), (3, 99, BUSY)]
    assert arrived(given, 101) == []


def test_of_a_pool_whose_threshold_moved_nothing_has_arrived() -> None:
    database = Inserted([("s0", 95, 3), ("s1", 95, 3)])
    given = WindowReader(database)
    arrived(given, 100)
    database.rows += [("s0", 97, 5), ("s1", 97, 5)]
    assert arrived(given, 100, (100, 50, 100, 100)) == [(0, 97, BUSY)]


def test_what_a_failed_reading_brought_arrives_with_the_next() -> None:
    database = Inserted([("s0", 95, 3), ("s3", 95, 3)], most=2)
    given = WindowReader(database)
    assert arrived(given, 100) is None
    database.rows += [("s0", 97, 5), ("s3", 98, 5)]
    database.fail_after = 2
    with pytest.raises(OSError, match="away"):
        arrived(given, 101)
    assert arrived(given, 101) == [(0, 97, BUSY), (3, 98, BUSY)]


def test_arrivals_are_told_where_everything_is_read_each_time() -> None:
    database = Inserted([("s0", 95, 3), ("s3", 95, 3)], most=2, engine="ReplicatedReplacingMergeTree")
    given = WindowReader(database)
    assert arrived(given, 100) is None
    database.rows.append(("s0", 97, 5))
    assert arrived(given, 101) == [(0, 97, BUSY)]
    database.rows.append(("s3", 98, 5))
    database.fail_after = 2
    with pytest.raises(OSError, match="away"):
        arrived(given, 101)
    assert arrived(given, 102) == [(3, 98, BUSY)]
    assert arrived(given, 102) == []


def test_the_newest_bucket_of_each_pool() -> None:
    database = Inserted([("s0", 95, 3), ("s0", 93, 3), ("s3", 99, 1)])
    given = WindowReader(database)
    limits = [100 * MS] * 4
    assert given.read(POOLS, limits, 9_000, 10_000, 100).newest_ms.tolist() == [9_500, -1, -1, 9_900]
    assert given.read(POOLS, limits, 9_600, 10_600, 100).newest_ms.tolist() == [-1, -1, -1, 9_900]


def test_the_past_can_be_read_in_steps_up_to_the_present() -> None:
    """Steps of a window, with what is written meanwhile; some of it late."""
    database = Inserted([("s0", bucket, 1) for bucket in range(90, 130)])
    given = WindowReader(database)
    assert read(given, 100) == [10, 0, 0, 0]
    assert read(given, 110) == [10, 0, 0, 0]
    database.rows += [("s1", 112, 5), ("s0", 108, 5), ("s1", 131, 1)]
    assert read(given, 120) == [10, 5, 0, 0]
    assert read(given, 130) == [10, 0, 0, 0]
    assert read(given, 132) == [8, 1, 0, 0]
