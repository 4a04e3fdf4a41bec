"""Where one change may lead, and who set a size: by hand."""

from dataclasses import replace
from math import log

import pytest

from sluice.pools.policy.decision import Basis
from sluice.pools.policy.reach import by_another, collapses, decided_for, largest, leap
from sluice.pools.policy.state import Change, Facts
from sluice.pools.policy.trust import SizeRecord, Trust
from sluice.pools.policy.worth import Outlook

NOW = 1_700_000_000_000
# 126 was set by hand, and 16 is decided; 6 was in force earlier.
PENDING = Facts(
    now_ms=NOW,
    current=126,
    change=Change(126, 16, NOW - 1_000, Basis.CURVE),
    trust=Trust(126, measured=(SizeRecord(6, 250.0, 0.02, 0.0, 4.0),)),
)


def outlook(best: int, upper: int, gain: float = 1.0, sure_by: float = 5.0) -> Outlook:
    return Outlook(best, best, upper, 0.5, gain=gain, sure_by=sure_by)


@pytest.mark.parametrize(
    ("current", "upper", "size"),
    [
        (128, 18, 18),
        # An eighth of 128 at most, and of 9.
        (128, 10, 16),
        (9, 1, 2),
        # A step, where that leads further than to the best.
        (30, 18, 15),
    ],
)
def test_a_pool_that_collapses_leaps_to_the_largest_of_the_best_sizes(current: int, upper: int, size: int) -> None:
    assert leap(outlook(upper - 3, upper), current) == size


@pytest.mark.parametrize(
    ("gain", "sure_by", "does"),
    [(log(1.5) + 0.01, 2.0, True), (log(1.5) - 0.01, 9.0, False), (1.0, 1.9, False)],
)
def test_a_pool_collapses_that_surely_completes_less_than_two_thirds(gain: float, sure_by: float, does: bool) -> None:
    assert collapses(outlook(15, 18, gain, sure_by)) == does


@pytest.mark.parametrize(
    ("size", "another"),
    # 63 and 32 are steps from 126; 12 is one from 6. 5 and 127 lead away.
    [(126, False), (63, False), (32, False), (16, False), (12, False), (5, True), (127, True)],
)
def test_a_step_towards_what_was_decided_is_nobody_elses(size: int, another: bool) -> None:
    assert by_another(PENDING, size) == another
    assert (decided_for(PENDING, size) == 16) == (not another and size != 16)


def test_steps_from_earlier_sizes_are_expected_for_half_a_minute() -> None:
    assert not by_another(replace(PENDING, now_ms=NOW + 29_000), 12)
    assert by_another(replace(PENDING, now_ms=NOW + 29_001), 12)
    # A slow actuator's own steps from the size before are expected for longer.
    assert not by_another(replace(PENDING, now_ms=NOW + 600_000), 63)


def test_a_size_further_away_than_the_one_before_is_another_s() -> None:
    """30 to 27 is decided, and 147 was in force earlier: 141 is no step from there."""
    earlier = Trust(147, measured=(SizeRecord(147, 194.0, 0.3, 0.0, 4.0),))
    pending = Facts(now_ms=NOW, current=30, change=Change(30, 27, NOW - 1_000, Basis.REVERT), trust=earlier)
    assert by_another(pending, 141)
    assert by_another(pending, 31)
    assert not by_another(pending, 28)


def test_what_is_set_once_the_change_is_in_force_is_another_s() -> None:
    there = replace(PENDING, current=16)
    assert by_another(there, 40)
    # The size before comes back where a service starts anew with its configuration.
    assert not by_another(there, 126)


@pytest.mark.parametrize(
    ("waiting", "full", "size"),
    [
        (0.0, 1.0, 10),
        (3.0, 1.0, 10),
        (12.0, 1.0, 17),
        (40.0, 1.0, 20),
        (40.0, 0.6, 6),
        (0.1, 0.1, 6),
        (40.0, 0.08, 5),
        (0.0, 0.4, 5),
    ],
)
def test_a_full_pool_grows_as_far_as_callers_wait(waiting: float, full: float, size: int) -> None:
    """From 5: twice at least, and four times at most, where it is full; a third where bursts fill it."""
    assert largest(5, full, waiting) == size
