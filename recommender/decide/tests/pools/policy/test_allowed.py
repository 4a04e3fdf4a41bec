"""Which sizes may be chosen at all: by hand."""

import pytest

from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.allowed import floor, larger_tried_s, narrowed, unmeasured, unrefused, was_full
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Occupancy
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Change, Facts, Learnt
from sluice.pools.policy.trust import RefusedSize, Trust
from sluice_kit.decide.feeds import evidence

NOW = 1_700_000_000_000


def seen(in_flight: float, seconds: float, full: bool = True, cores: float = 4.0) -> Learnt:
    return Learnt(evidence=Evidence().with_second(Second(cores, full, full, in_flight, 100.0 * seconds, seconds)))


@pytest.mark.parametrize(
    ("in_flight", "seconds", "full", "was"),
    [
        (13.7, 3.0, True, True),
        # 0.85 x 16 is 13.6.
        (13.5, 3.0, True, False),
        (16.0, 2.9, True, False),
        (16.0, 60.0, False, False),
        (64.0, 3.0, True, True),
    ],
)
def test_a_pool_was_full_when_3_s_were_at_its_size(in_flight: float, seconds: float, full: bool, was: bool) -> None:
    assert was_full(seen(in_flight, seconds, full), 16, None) == was
    # On whatever cores.
    assert was_full(seen(in_flight, seconds, full, cores=2.0), 16, None) == was


def test_a_target_that_says_that_it_is_full_counts() -> None:
    assert not was_full(Learnt(), 16, None)
    assert was_full(Learnt(), 16, Occupancy(16.0, None, 0.9, NOW, readings=3))
    assert not was_full(Learnt(), 16, Occupancy(16.0, None, 0.89, NOW, readings=3))
    assert not was_full(Learnt(), 16, Occupancy(16.0, None, 0.9, NOW, readings=3, coarse=True))


def test_a_moment_at_which_all_are_in_use_is_no_full_pool_unless_callers_wait() -> None:
    """A look at 4 in a light load: 4 of 4 in use in one reading, and 1 in flight for the next 5 s. The belief would
    learn that a full pool of 4 completes 8 a second, and forget 100 a second of 12."""
    assert not was_full(Learnt(), 4, Occupancy(4.0, 0.0, 1.0, NOW, waiting_most=0, readings=2))
    assert was_full(Learnt(), 4, Occupancy(4.0, 1.0, 1.0, NOW, waiting_most=1, readings=1))


def test_refused_sizes_are_left_out_with_all_beyond_them() -> None:
    """13 was too many from 12, and 8 too few from 16."""
    trust = Trust(refused=(RefusedSize(13, 12, NOW + 1), RefusedSize(8, 16, NOW + 1)))
    assert unrefused((1, 100), trust, NOW) == (9, 12)
    assert unrefused((1, 100), trust, NOW + 1) == (1, 100)
    assert [trust.refuses(size, NOW) for size in (7, 8, 9, 12, 13, 14)] == [True, True, False, False, True, True]


@pytest.mark.parametrize(
    ("floor", "refused", "found"),
    [
        (1, (), (8, 32)),
        (16, (), (16, 32)),
        (14, (), (14, 32)),
        (1, (RefusedSize(10, 16, NOW + 1),), (11, 32)),
        (1, (RefusedSize(20, 16, NOW + 1),), (8, 19)),
        # Both: none is left but the size in force.
        (16, (RefusedSize(17, 16, NOW + 1),), (16, 16)),
    ],
)
def test_what_one_change_leads_to(floor: int, refused: tuple[RefusedSize, ...], found: tuple[int, int]) -> None:
    assert narrowed((8, 32), floor, Trust(refused=refused), NOW) == found


@pytest.mark.parametrize(
    ("change", "seconds", "least"),
    [
        (None, 3.0, 1),
        (None, 2.9, 16),
        # What a change of ours added, and no more.
        (Change(14, 16, NOW, Basis.PROBE), 0.1, 14),
        (Change(14, 16, NOW, Basis.PROBE), 3.0, 1),
        # Of a step down there is nothing to take back, nor of a change that is not in force.
        (Change(32, 16, NOW, Basis.CURVE), 0.1, 16),
        (Change(14, 20, NOW, Basis.PROBE), 0.1, 16),
    ],
)
def test_a_pool_that_was_not_full_gives_back_what_was_added(change: Change | None, seconds: float, least: int) -> None:
    assert floor(Facts(change=change), seen(16.0, seconds), 16, None) == least


def test_the_operator_s_size_is_measured_before_it_is_changed() -> None:
    """By it the guard judges all others. 64 was full for long, and 16 was set by hand a second ago."""
    of = seen(64.0, 60.0).evidence
    facts = Facts(trust=Trust(operator=16))

    def beats(seconds: int) -> tuple[Beat, ...]:
        earlier = tuple(Beat(at, 64, 10.0, 0.0, 64.0, 1.0) for at in range(10))
        return (*earlier, *(Beat(10 + at, 16, 10.0, 0.0, 16.0, 1.0) for at in range(seconds)))

    assert floor(facts, Learnt(evidence=of, beats=beats(1)), 16, None) == 16
    assert unmeasured(facts, Learnt(evidence=of, beats=beats(1)), 16)
    assert not unmeasured(facts, Learnt(evidence=of, beats=beats(2)), 16)
    assert not unmeasured(facts, Learnt(evidence=of, beats=beats(1)), 64), "it is not the operator's"
    assert floor(facts, Learnt(evidence=of, beats=beats(2)), 16, None) == 1
    # A decider that has just begun has seen nothing yet.
    assert floor(facts, Learnt(evidence=of), 16, None) == 1
    assert floor(Facts(trust=Trust(operator=64)), Learnt(evidence=of, beats=beats(1)), 16, None) == 1


@pytest.mark.parametrize(("seconds", "waits"), [(7, True), (8, False), (10, False)])
def test_where_all_is_late_the_first_stay_of_a_request_is_no_measure(seconds: int, waits: bool) -> None:
    """3 in flight and 0.5 a second: 6 s. After 7 s there is one of its measure, after 8 s there are two."""
    beats = tuple(Beat(at, 3, 0.5, 0.0, 3.0, 1.0) for at in range(seconds))
    facts, learnt = Facts(trust=Trust(operator=3)), Learnt(beats=beats)
    assert unmeasured(facts, learnt, 3, after_stay=True) == waits
    assert not unmeasured(facts, learnt, 3)
    # 30 s each: no more than 10 s of the size are waited for.
    slow = Learnt(beats=tuple(beat._replace(good=0.1) for beat in beats))
    assert unmeasured(facts, slow, 3, after_stay=True) == (seconds < 10)


def test_a_second_that_is_a_little_older_counts_whole() -> None:
    """Three seconds, one after the other: 0.989 + 0.994 + 1 = 2.98."""
    of = Evidence()
    for _ in range(3):
        of = of.with_second(Second(4.0, True, True, 16.0, 100.0, 1.0))
    assert was_full(Learnt(evidence=of), 16, None)


def test_a_larger_size_was_tried_where_a_quarter_more_was_full_on_these_cores() -> None:
    """20 are a quarter more than 16. Steps of evidence are 5 %: 20.0 in flight is 20.0."""
    tried = Learnt(evidence=evidence(16, 20, seconds=5))
    assert larger_tried_s(tried, 16, 4.0) == pytest.approx(5.0, rel=0.02)
    assert larger_tried_s(tried, 17, 4.0) == 0
    assert larger_tried_s(tried, 16, 2.0) == 0
    assert larger_tried_s(seen(30.0, 10.0, full=False), 16, 4.0) == 0
    assert larger_tried_s(Learnt(), 16, 4.0) == 0
