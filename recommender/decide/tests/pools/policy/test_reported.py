"""What targets report in place of what spans show: by hand."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from sluice.pools.policy.observation import Observation, Occupancy
from sluice.pools.policy.reported import settled, spans_full, with_occupancy
from sluice.pools.policy.state import Facts, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.trust import Trust
from sluice_kit.decide.feeds import buckets, joined, nothing

NOW = 1_700_000_000_000


def told(busy: float, full_share: float, most: int = 20, readings: int = 10) -> Occupancy:
    return Occupancy(busy, None, full_share, NOW, busy_most=most, readings=readings, busy_30_s=busy)


@pytest.mark.parametrize(
    ("size", "by_spans", "busy", "full_share", "in_flight"),
    [
        # Held between queries: 0.4 are 4.
        (4, 0.4, 4.0, 0.9, 4.0),
        (4, 0.4, 4.0, 0.89, 0.4),
        # Nested spans: 40 of 34 are 5.
        (34, 40.0, 5.0, 0.0, 5.0),
        (34, 40.0, 5.0, 0.1, 40.0),
        # Full on average of the newest half minute, and not by now.
        (4, 0.4, 3.0, 0.9, 0.4),
        # Spans that do not call it full are let be: 30.5 is under 0.9 x 34.
        (34, 30.5, 5.0, 0.0, 30.5),
    ],
)
def test_targets_win_where_spans_show_another_fullness(
    size: int, by_spans: float, busy: float, full_share: float, in_flight: float
) -> None:
    given = buckets(NOW, 1, size, by_spans, 10.0)
    found = with_occupancy(given, told(busy, full_share))
    assert found.concurrency.tolist() == [in_flight] * 10
    assert found.completions.tolist() == given.completions.tolist()


def test_readings_are_moments_a_burst_between_them_may_fill_the_pool() -> None:
    """0.7 of 34 are 23.8."""
    given = buckets(NOW, 1, 34, 40.0, 10.0)
    for spoken in (told(5.0, 0.0, most=24), told(5.0, 0.0, readings=9)):
        assert with_occupancy(given, spoken).concurrency.tolist() == [40.0] * 10
    assert with_occupancy(given, told(5.0, 0.0, most=23)).concurrency.tolist() == [5.0] * 10


def test_where_spans_show_the_pool_full_an_old_report_of_a_full_one_replaces_nothing() -> None:
    """8 of 8 in second 0, reported as full; 3.9 of 8 in second 1, and no new report for up to 15 s."""
    full, idle = buckets(NOW, 1, 8, 8.0, 140.0), buckets(NOW + 1_000, 1, 8, 3.9, 73.0)
    assert spans_full(-1, full) == NOW
    assert spans_full(NOW, idle) == NOW
    assert spans_full(-1, idle) == spans_full(-1, nothing()) == -1
    assert with_occupancy(idle, told(8.0, 1.0, readings=1), NOW) is idle
    assert with_occupancy(idle, told(8.0, 1.0), NOW - 60_000).concurrency.tolist() == [8.0] * 10
    assert with_occupancy(idle, told(8.0, 1.0), -1).concurrency.tolist() == [8.0] * 10


@pytest.mark.parametrize(("buckets_full", "shown"), [(1, False), (2, True)])
def test_spans_show_the_pool_where_they_have_it_full_for_a_fifth_of_a_second(buckets_full: int, shown: bool) -> None:
    """Readings at the moments 65, 67 and 69 s had 4 of 4 in use; by spans 2.2 were, and 4 for 200 ms."""
    busy = buckets(NOW, 1, 4, 2.2, 166.0)
    busy.concurrency[:buckets_full] = 4.0
    assert (spans_full(-1, busy) == NOW) == shown


@pytest.mark.parametrize(("per_s", "age_s", "full"), [(11.0, 2.0, True), (73.0, 2.0, False), (11.0, 20.0, False)])
def test_spans_do_not_show_requests_that_have_not_ended(per_s: float, age_s: float, full: bool) -> None:
    """17 of 34 in flight, and 11 a second: 1.5 s each, read after 2 s. The pool collapsed, and a report says so."""
    known = replace(buckets(NOW + 1_000, 1, 34, 17.0, per_s), known_ms=NOW + 2_000 + 1_000 * age_s)
    expected = 34.0 if full else 17.0
    assert with_occupancy(known, told(34.0, 1.0), NOW).concurrency.tolist() == [expected] * 10
    silent = replace(known, completions=np.zeros(10))
    assert with_occupancy(silent, told(34.0, 1.0), NOW).concurrency.tolist() == [34.0] * 10


def test_a_report_says_nothing_of_the_time_before_its_first_reading() -> None:
    """A pool of 89 fills: 30 in flight in second 0, and no reading yet; all are in use in second 1."""
    fills = joined(buckets(NOW, 1, 89, 30.0, 150.0), buckets(NOW + 1_000, 1, 89, 60.0, 35.0))
    report = replace(told(89.0, 1.0, most=89), since_ms=NOW + 1_000)
    assert with_occupancy(fills, report).concurrency.tolist() == [30.0] * 10 + [89.0] * 10


def test_a_pool_that_drains_is_not_a_full_one() -> None:
    """18 in use of 5: the size has just fallen from 34, and 26 are in flight by spans."""
    drains = buckets(NOW, 1, 5, 26.0, 7.0)
    assert with_occupancy(drains, told(18.0, 1.0)) is drains
    assert with_occupancy(drains, told(5.0, 1.0)).concurrency.tolist() == [5.0] * 10


@pytest.mark.parametrize(
    ("settled_ms", "full_share", "in_flight"),
    [(NOW, 0.9, 4.0), (NOW + 1, 0.9, 13.0), (inf, 0.9, 13.0), (NOW, 0.89, 13.0)],
)
def test_spans_beyond_a_full_pool_are_of_requests_that_wait(
    settled_ms: float, full_share: float, in_flight: float
) -> None:
    """Node's spans begin before a request has its socket: 13 are in flight over 4 sockets. Of a pool that may still
    drain, or is not reported full, they say nothing (`belief.evidence.second`)."""
    waits = buckets(NOW, 1, 4, 13.0, 73.0)
    found = with_occupancy(waits, told(4.0, full_share, most=4), NOW, settled_ms=settled_ms)
    assert found.concurrency[:1].tolist() == [in_flight]
    busy = buckets(NOW, 1, 4, 3.0, 73.0)
    assert with_occupancy(busy, told(4.0, 1.0, most=4), NOW, settled_ms=settled_ms) is busy


@pytest.mark.parametrize(
    ("in_flight", "per_s", "read", "after_s"),
    [(13.0, 73.0, 4, 2.0), (40.0, 20.0, 4, 6.0), (13.0, 73.0, 3, inf), (4.0, 0.0, 4, inf)],
)
def test_a_pool_has_settled_after_three_stays(in_flight: float, per_s: float, read: int, after_s: float) -> None:
    assert settled(Trust(4, NOW), 4, read, buckets(NOW, 1, 4, in_flight, per_s)) == pytest.approx(NOW + 1_000 * after_s)
    assert settled(Trust(4, NOW), None, None, buckets(NOW, 1, 4, in_flight, per_s)) == inf


@pytest.mark.parametrize(("waiting", "in_flight"), [(5.0, 3.0), (1.0, 3.0), (0.9, 11.0), (None, 11.0)])
def test_where_callers_wait_spans_beyond_the_size_are_theirs(waiting: float | None, in_flight: float) -> None:
    """Full in a quarter of the readings, since the load has just come: 11 spans for 3 sockets, of which 3 hold one.
    Where nobody waits, spans are of something else."""
    report = replace(told(2.7, 0.26, most=3), waiting=waiting)
    seen = buckets(NOW, 1, 3, 11.0, 48.0)
    assert with_occupancy(seen, report, settled_ms=NOW).concurrency.tolist() == [in_flight] * 10
    assert with_occupancy(seen, report, settled_ms=NOW + 1_000) is seen
    idle = buckets(NOW, 1, 3, 2.0, 48.0)
    assert with_occupancy(idle, report, settled_ms=NOW) is idle


def test_a_quick_moment_of_a_second_with_a_queue_is_no_evidence_of_a_smaller_pool() -> None:
    """The mean of the first second is 6.8, over 1.15 x 3; that of the next one is 2."""
    report = replace(told(3.0, 1.0, most=3), waiting=5.0)
    quick, idle = [14.0, 9.0, 3.0, 1.2] * 2 + [6.8] * 2, [5.0, 1.0, 1.0, 1.0] * 2 + [2.0] * 2
    seen = replace(buckets(NOW, 2, 3, 1.0, 70.0), concurrency=np.array(quick + idle))
    found = with_occupancy(seen, report, NOW, settled_ms=NOW).concurrency.tolist()
    assert found == [3.0] * 10 + [3.0, 1.0, 1.0, 1.0] * 2 + [2.0] * 2


def test_of_a_pool_whose_spans_have_the_wait_a_look_is_learnt() -> None:
    """3 and 4 sockets complete 73 and 97 a second for 13 callers: without their size no second says anything, and the
    two take turns for ever."""
    state, size = PoolState(), 3
    for second in range(120):
        seen = buckets(NOW + 1_000 * second, 1, size, 13.0, 24.3 * min(size, 4))
        now_ms = NOW + 1_000 * (second + 1)
        report = replace(told(float(size), 1.0, most=size), at_ms=now_ms)
        state, found = step(state, Observation({"a": size}, seen, 4.0, 10.0, occupancy=report), now_ms)
        size = found.target or size
    assert len(state.learnt.evidence.levels) > 1
    assert size >= 4


def test_a_report_of_a_full_pool_makes_no_full_second_of_an_idle_one() -> None:
    """The demo's cart was kept at 7 of 12: after a change to 8 its only reading was full, and three seconds of a load
    that fell counted as what a full pool of 8 completes."""
    state = PoolState(Facts(NOW - 1_000, 8))
    for second, (in_flight, per_s) in enumerate([(8.0, 140.0), (8.0, 141.0), (6.2, 115.0), (3.9, 73.0), (3.2, 64.0)]):
        at_ms = NOW + 1_000 * second
        seen, report = buckets(at_ms, 1, 8, in_flight, per_s), told(8.0, 1.0, readings=1)
        state, _ = step(state, Observation({"a": 8}, seen, 4.0, 1.0, occupancy=report), at_ms + 2_000)
    full = [level for level in state.learnt.evidence.levels if level.full]
    assert sum(level.completions for level in full) == pytest.approx(281, rel=0.02)
    assert sum(level.seconds for level in full) == pytest.approx(2, rel=0.02)


def test_without_a_told_one_or_a_size_spans_count() -> None:
    given = buckets(NOW, 1, 4, 0.4, 10.0)
    assert with_occupancy(given, None) is given
    untold = replace(given, size=np.full(10, np.nan))
    for share in (1.0, 0.0):
        assert with_occupancy(untold, told(4.0, share)).concurrency.tolist() == [0.4] * 10
    none = nothing()
    assert with_occupancy(none, told(4.0, 1.0)) is none
