from dataclasses import replace
from itertools import pairwise

from sluice.model.keys import PoolKey
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.publication.record import Ref, restored, value_of
from sluice.pools.publication.schedule import EVERY_MS, WriteSchedule

SHOP = PoolKey("shop", "server", "")
PERIOD_MS = 1_000


def state(now_ms: int, current: int | None = None, version: str = "") -> PoolState:
    """Of a pool with windows up to now."""
    return PoolState(Facts(now_ms=now_ms, current=current), Learnt(version=version, until_ms=now_ms))


def parts(due: WriteSchedule, key: PoolKey, state: PoolState) -> set[str]:
    return {ref.part for ref, given in due.of({key: state}) if ref.pool == key and given is state}


def test_facts_are_due_when_they_change_and_time_alone_is_no_change() -> None:
    due = WriteSchedule()
    steps = [state(0), state(1_000), state(2_000, current=5), state(3_000, current=5), state(4_000, current=6)]
    assert ["facts" in parts(due, SHOP, each) for each in steps] == [False, False, True, False, True]
    probing = replace(steps[-1].facts, change=Change(6, 7, 4_000, Basis.PROBE))
    assert "facts" in parts(due, SHOP, replace(steps[-1], facts=probing))


def evidence_times(
    due: WriteSchedule, key: PoolKey, begin_ms: int, end_ms: int, period_ms: int = PERIOD_MS
) -> list[int]:
    return [now for now in range(begin_ms, end_ms, period_ms) if "evidence" in parts(due, key, state(now))]


def test_evidence_is_due_once_a_minute_from_within_the_first_one_on() -> None:
    times = evidence_times(WriteSchedule(), SHOP, 7_000_000, 7_600_000)
    assert len(times) == 10
    assert {b - a for a, b in pairwise(times)} == {EVERY_MS}
    assert times[0] - 7_000_000 <= EVERY_MS


def test_a_period_longer_than_a_minute_writes_it_each_time() -> None:
    assert len(evidence_times(WriteSchedule(), SHOP, 0, 900_000, 90_000)) == 9


def test_pools_are_spread_over_the_minute() -> None:
    keys = [PoolKey(f"service-{number}", "client", "db") for number in range(600)]
    due = WriteSchedule()
    counts = [
        sum(ref.part == "evidence" for ref, _ in due.of({key: state(now) for key in keys}))
        for now in range(600_000, 661_000, PERIOD_MS)
    ]
    # At random 10 a second; 25 and more in one of 60 seconds has a chance under 1 in 100, and the names are fixed.
    assert sum(counts) == len(keys)
    assert max(counts) < 25


def test_evidence_that_did_not_change_is_not_written_again() -> None:
    due, learnt = WriteSchedule(), Learnt(until_ms=5)
    found = [parts(due, SHOP, PoolState(Facts(now_ms=now), learnt)) for now in range(0, 300_000, PERIOD_MS)]
    assert sum("evidence" in each for each in found) == 1


def test_another_version_is_written_at_once() -> None:
    """What came since the last record would be learnt as the version that is told first after a restart."""
    due = WriteSchedule()
    assert parts(due, SHOP, state(0, version="v1")) == {"evidence"}
    assert parts(due, SHOP, state(1_000, version="v1")) == set()
    assert parts(due, SHOP, state(2_000, version="v2")) == {"evidence"}


def test_what_was_restored_is_not_written_again_and_goes_on_in_its_turn() -> None:
    before = WriteSchedule()
    *_, last = evidence_times(before, SHOP, 7_000_000, 7_200_000)
    kept = state(last, current=5)
    records = {str(Ref(part, SHOP)): value_of(Ref(part, SHOP), kept) for part in ("facts", "evidence")}
    due = WriteSchedule()
    due.restored(restored(records))
    assert parts(due, SHOP, state(last + 1_000, current=5)) == set()
    assert evidence_times(due, SHOP, last + 2_000, last + 90_000) == [last + EVERY_MS]


def test_what_was_not_stored_is_due_again() -> None:
    due = WriteSchedule()
    assert parts(due, SHOP, state(0, current=5, version="v1")) == {"facts", "evidence"}
    assert parts(due, SHOP, state(1_000, current=5, version="v1")) == set()
    due.again([Ref("facts", SHOP), Ref("evidence", SHOP)])
    assert parts(due, SHOP, state(2_000, current=5, version="v1")) == {"facts", "evidence"}
    assert parts(due, SHOP, state(3_000, current=5, version="v1")) == set()


def test_facts_that_are_as_those_of_a_new_pool_are_due_again_too() -> None:
    """The journal may hold others."""
    due = WriteSchedule()
    assert "facts" in parts(due, SHOP, state(1_000, current=5))
    assert "facts" in parts(due, SHOP, state(2_000))
    due.again([Ref("facts", SHOP)])
    assert "facts" in parts(due, SHOP, state(3_000))
