"""Which size is worth having: the worked values, and what is never chosen."""

from math import log
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.estimate.belief.family import SIZES, Floats, Ints
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.worth import (
    Choice,
    Outlook,
    Prospects,
    Situation,
    _look_s,
    choose,
    knowledge_gradient,
    outlook,
    prospects,
)
from sluice_kit.decide.feeds import FALLS, Curve, evidence

# 50 a second for each thread.
STRAIGHT = Curve(contention=0.0, crosstalk=0.0)
QUEUE = Situation(1.0, queues=True)
EQUAL = Curve(speed=28.0, contention=1.0, crosstalk=0.0)


def nothing_yet(asked: Ints) -> Floats:
    return np.zeros(len(asked))


def belief(seen: Evidence) -> Posterior:
    return believed(None, seen, 4.0).now


def chosen(
    seen: Evidence,
    current: int,
    least: int = 1,
    most: int = 1_000,
    full: float = 1.0,
    slo_s: float = 10.0,
    may_look: bool = True,
) -> Choice | None:
    def at(sizes: Ints) -> Floats:
        return seen.completions_at(4.0, sizes)

    return choose(prospects(belief(seen), current, (least, most), slo_s), Situation(full, may_look=may_look), at)


def test_knowledge_gradient_of_two_sizes_alike() -> None:
    # 0.01 x phi(0) = 0.01 x 0.399
    found = knowledge_gradient(np.zeros(2), np.full(2, 0.01))
    assert found == pytest.approx([0.00399, 0.00399], abs=5e-6)


def test_knowledge_gradient_of_one_that_is_3_percent_behind() -> None:
    # f(-3) = phi(3) - 3 Phi(-3) = 0.00443 - 0.00405 = 0.00038
    found = knowledge_gradient(np.array([0.0, -0.03]), np.full(2, 0.01))
    assert found == pytest.approx([3.8e-6, 3.8e-6], abs=5e-8)


def test_nothing_learnt_is_nothing_gained() -> None:
    assert knowledge_gradient(np.array([0.0, -0.1]), np.zeros(2)) == pytest.approx([0.0, 0.0], abs=1e-9)
    # A single size is compared with itself.
    assert knowledge_gradient(np.zeros(1), np.full(1, 0.01)) == pytest.approx([0.00399], abs=5e-6)


@pytest.mark.parametrize(("rate", "seconds"), [(500, 4.0), (190, 10.5), (2_000, 3.0), (10, 30.0), (0, 30.0)])
def test_a_look_takes_until_2000_completions(rate: float, seconds: float) -> None:
    assert _look_s(rate, 0.05) == pytest.approx(seconds, abs=0.05)


@pytest.mark.parametrize(
    ("deviation", "seconds"), [(0.08, 28.6), (0.1, 22.9), (0.16, 8.9), (0.2, 5.7), (0.5, 3.0), (0.0, 28.6)]
)
def test_a_look_is_shorter_where_little_is_known(deviation: float, seconds: float) -> None:
    # 70 a second: (4 / 0.16)^2 = 625 completions take 8.9 s, and 2,000 take 28.6 s.
    assert _look_s(70, deviation) == pytest.approx(seconds, abs=0.05)


def test_sizes_that_are_thought_of() -> None:
    assert SIZES[:24].tolist() == list(range(1, 25))
    steps = SIZES[24:] / SIZES[23:-1]
    # 6 %, rounded to whole sizes.
    assert (steps >= 1.03).all()
    assert (steps <= 1.09).all()
    assert 450 < SIZES[-1] <= 500


def test_a_size_far_above_the_best_is_left_for_a_better_one() -> None:
    found = chosen(evidence(8, 16, 32, 64), 64, least=32)
    assert found is not None
    assert not found.look
    assert 32 <= found.size < 40
    # ln(X(32) / X(64)) by the curve: 0.499
    assert found.gain == pytest.approx(log(FALLS.throughput(found.size) / FALLS.throughput(64)), abs=0.03)
    assert found.sure_by > 3


def test_the_best_size_stays() -> None:
    assert chosen(evidence(8, 12, 16, 20, 32, seconds=60), 16, 8, 32) is None


@pytest.mark.parametrize(("current", "next_one"), [(1, 2), (2, 1), (2, 3), (3, 2), (3, 4)])
def test_of_few_threads_one_more_or_less_may_be_looked_at(current: int, next_one: int) -> None:
    """A third more than 3 is 4, which is more than 1.3 times as much. Each other size is known to be worse."""
    sizes = np.arange(1, 5)
    mean = np.select([sizes == current, sizes == next_one], [0.0, -0.005], -0.5)
    variance = np.where(sizes == next_one, 0.03**2, 1e-8)
    none = np.zeros(len(sizes))
    of = Prospects(sizes, current - 1, mean, variance, 2_000.0, none, mean, none, Outlook(current, current, current, 0))
    found = choose(of, Situation(1.0), nothing_yet)
    assert found is not None
    assert (found.size, found.look) == (next_one, True)


def of_three(least: float, at_4: float, at_6: float) -> Prospects:
    """Of 3 sockets: the mean gain of 2, of 4 and 5, and of 6 and 7, which are the less known the further away."""
    sizes = np.arange(2, 8)
    mean = np.array([least, 0.0, at_4, at_4, at_6, at_6])
    variance = (0.05 * (sizes - 3.0)) ** 2
    none = np.zeros(len(sizes))
    return Prospects(sizes, 1, mean, variance, 60.0, none, mean, none, Outlook(3, 3, 3, 0))


@pytest.mark.parametrize(("falls", "size"), [(0.0, 4), (0.3, 4), (0.31, None), (1.0, None)])
def test_a_size_that_is_likely_beyond_an_edge_gets_no_look(falls: float, size: int | None) -> None:
    """Little would be lost there, so that the mean alone allows it; it was chosen, and not applied, in turns."""
    sizes, none = np.array([3, 4]), np.zeros(2)
    variance = np.array([0.0, 0.05**2])
    of = Prospects(sizes, 0, none, variance, 80.0, np.array([0.0, falls]), none, none, Outlook(3, 3, 3, 0))
    found = choose(of, Situation(1.0), nothing_yet)
    assert (found and found.size) == size


def test_where_callers_queue_a_look_takes_up_to_three_more() -> None:
    """Twice the size at most: of 3 up to 6, of 20 up to 26, a factor of 1.3 without a queue."""
    found = choose(of_three(-0.3, 0.0, 0.0), QUEUE, nothing_yet)
    assert found is not None
    assert (found.size, found.look) == (6, True)
    without = choose(of_three(-0.3, 0.0, 0.0), Situation(1.0), nothing_yet)
    assert without is not None
    assert (without.size, without.look) == (4, True)
    # 6 loses over 2 % on the mean.
    nearer = choose(of_three(-0.3, 0.0, -0.03), QUEUE, nothing_yet)
    assert nearer is not None
    assert nearer.size == 5


def test_where_callers_queue_a_smaller_pool_needs_90_percent() -> None:
    """2 seems better by 5 %, give or take 5 %: by one deviation. By 7 %: 1.4."""
    still = Situation(1.0, may_look=False, queues=True)
    found = choose(of_three(0.05, -0.3, -0.3), Situation(1.0, may_look=False), nothing_yet)
    assert found is not None
    assert (found.size, found.look) == (2, False)
    assert choose(of_three(0.05, -0.3, -0.3), still, nothing_yet) is None
    surer = choose(of_three(0.07, -0.3, -0.3), still, nothing_yet)
    assert surer is not None
    assert surer.size == 2


def test_a_pool_that_is_not_full_tries_nothing() -> None:
    seen = evidence(16)
    found = chosen(seen, 16)
    assert found is not None
    assert found.look
    for full in (0.0, 0.4, 0.8):
        light = chosen(seen, 16, full=full)
        assert light is None or not light.look
    # What is surely better is moved to even so.
    sure = chosen(evidence(8, 16, 32, 64), 64, 32, 128, full=0.0)
    assert sure is not None
    assert sure.sure_by > 1.28
    assert sure.size < 64


@pytest.mark.parametrize(("since_s", "looks"), [(30.0, False), (79.0, False), (80.0, True)])
def test_a_look_waits_four_times_as_long_as_the_size_was_seen(since_s: float, looks: bool) -> None:
    """3 and 4 complete 73 a second, and 4 was seen for 20 s. A look takes 2,000 completions, 27 s."""
    none, counts = np.zeros(2), np.array([7_300.0, 1_460.0])
    of = Prospects(np.array([3, 4]), 0, none, np.array([0.0, 4e-4]), 73.0, none, none, none, Outlook(3, 3, 4, 0.0))
    found = choose(of, Situation(1.0, since_s), lambda _: counts)
    assert (found is not None and found.look) == looks


@pytest.mark.parametrize(
    ("left", "since_s", "size"), [(4, 30.0, 4), (4, 20.0, None), (None, 30.0, None), (5, 30.0, None)]
)
def test_the_way_back_from_a_look_needs_no_certainty(left: int | None, since_s: float, size: int | None) -> None:
    """4 is better than 3 by 1 %, give or take 2 %: less than 0.67 of that. A look takes 27 s."""
    none, counts = np.zeros(2), np.array([7_300.0, 7_300.0])
    mean, variance = np.array([0.0, 0.01]), np.array([0.0, 4e-4])
    of = Prospects(np.array([3, 4]), 0, mean, variance, 73.0, none, none, none, Outlook(4, 3, 4, 0.0))
    found = choose(of, Situation(1.0, since_s, False, left), lambda _: counts)
    assert (found and found.size) == size


def test_the_way_back_to_a_size_whose_evidence_was_forgotten_needs_certainty() -> None:
    """5 is in force for a look from 3. The seconds contradicted the belief, and only those at 5 are left: that 3 is
    better by 1 % is a guess of the shapes."""
    none, counts = np.zeros(2), np.array([0.0, 320.0])
    mean, variance = np.array([0.01, 0.0]), np.array([4e-4, 0.0])
    of = Prospects(np.array([3, 5]), 1, mean, variance, 80.0, none, none, none, Outlook(3, 3, 5, 0.0))
    assert choose(of, Situation(1.0, 60.0, False, 3), lambda _: counts) is None
    known = choose(of, Situation(1.0, 60.0, False, 3), lambda _: np.array([320.0, 320.0]))
    assert known is not None
    assert known.size == 3


def test_nobody_looks_while_another_pool_on_the_path_does() -> None:
    seen = evidence(16, seconds=40)
    looks = [current for current in (12, 14, 16, 18, 20) if (found := chosen(seen, current)) and found.look]
    assert looks
    for current in looks:
        other = chosen(seen, current, may_look=False)
        assert other is None or not other.look


def test_a_size_at_which_requests_are_too_late_is_not_wanted() -> None:
    """Calls go through something slow: throughput rises by little, and each request waits for all others."""
    flat = Curve(speed=50, contention=0.5, crosstalk=0.0)
    # Little: 64 in flight at 98 a second stay 0.65 s, 4 at 80 a second 50 ms.
    seen = evidence(4, 8, 16, 32, 64, curve=flat)
    patient, hasty = chosen(seen, 32, 16, 64, slo_s=10.0), chosen(seen, 32, 16, 64, slo_s=0.1)
    assert patient is None or patient.size > 32
    assert hasty is not None
    assert hasty.size < 32


def test_outlook_names_the_best_and_what_the_size_in_force_loses() -> None:
    now = belief(evidence(8, 12, 16, 20, 32, 64, seconds=40))
    here = outlook(now, 64)
    assert here.lower <= here.best <= here.upper
    assert FALLS.throughput(here.best) >= 0.99 * FALLS.throughput(FALLS.best())
    # 1 - X(64) / X(16) = 1 - 176 / 364
    assert here.loss == pytest.approx(1 - FALLS.throughput(64) / FALLS.throughput(16), rel=0.05)
    assert (here.at_best < 0.01, here.sure > 0.95) == (True, True)
    assert outlook(now, 16).loss < 0.01
    assert outlook(now, 16).sure > 0.95
    assert prospects(now, 64, (32, 128), 10.0).outlook == here


@pytest.mark.parametrize(
    ("callers", "slo_s", "gain"),
    [
        # ln Phi of 8 less that of 4.
        (0, 0.392, -0.28),
        # Both are filled, and in time.
        (10, 0.392, 0.0),
        # Beyond 6, as compared with 6, at which requests stay 214 ms: -0.30 + 0.12.
        (6, 0.392, -0.18),
        # 285 ms are longer than 200: ln Phi(-0.71) + ln 2.
        (10, 0.2, -0.74),
    ],
)
def test_of_sizes_that_callers_fill_those_lose_whose_requests_stay_longer_than_the_slo(
    callers: int, slo_s: float, gain: float
) -> None:
    """4 and 8 complete 28 a second, after 143 and 285 ms."""
    of = prospects(belief(evidence(4, 6, 8, seconds=100, curve=EQUAL)), 4, (2, 8), slo_s, callers=callers)
    assert of.mean[of.sizes == 8] == pytest.approx([gain], abs=0.03)


@pytest.mark.parametrize(
    ("slo_s", "legal", "best", "beyond"),
    [
        (10.0, (1, 1_000), 16, None),
        # 8 complete 293 a second, 12 do 343, 16 do 354.
        (10.0, (1, 12), 12, 16),
        (10.0, (24, 64), 24, 16),
        # 15 lose under 1 %.
        (10.0, (1, 15), 15, None),
        # Requests of 6 stay 24 ms, of 16 45: Phi(ln(20 / 24) / 0.5) = 0.36 of 248 are in time, and Phi(-1.63) = 0.05 of
        # 354. So nothing beyond 8 is better, whatever it completes.
        (0.020, (1, 8), 6, None),
    ],
)
def test_best_and_range_are_legal_and_what_is_better_beyond_them_is_told(
    slo_s: float, legal: tuple[int, int], best: int, beyond: int | None
) -> None:
    now = belief(evidence(8, 12, 14, 15, 16, 20, 24, 32, 64, seconds=60))
    found = outlook(now, min(max(20, legal[0]), legal[1]), slo_s, legal)
    assert legal[0] <= found.lower <= found.best <= found.upper <= legal[1]
    assert abs(found.best - best) <= (0 if beyond else 1)
    assert (found.beyond is None) == (beyond is None)
    if found.beyond is not None:
        assert FALLS.throughput(found.beyond) >= 0.99 * FALLS.throughput(beyond)


def fell(at: int, share: float = 0.2, below: Curve = STRAIGHT) -> Evidence:
    """16 and 20, on a straight line up or on another curve, and a part of what 20 completes at a larger size."""
    seen = evidence(16, 20, curve=below)
    for _ in range(3):
        seen = seen.with_second(Second(4.0, True, True, float(at), share * below.throughput(20), 1.0))
    return seen


def test_towards_an_edge_a_look_goes_a_quarter_of_the_way() -> None:
    now = belief(fell(40))
    of = prospects(now, 20, (10, 40), 10.0)
    at = of.sizes.tolist().index
    # Of the way from 20 to 40 without half a level at either end: (ln 1.2 - 0.025) / (ln 2 - 0.05) = 0.24.
    assert of.falls[[at(20), at(24), at(40)]] == pytest.approx([0.0, 0.244, 1.0], abs=0.01)
    assert of.lost[at(40)] == pytest.approx(log(5), abs=0.1)
    found = chosen(fell(40), 20, 10, 40)
    assert found is not None
    # 25 is 0.31 of the way.
    assert (found.size, found.look) == (24, True)
    # What was seen there already is not looked at again.
    again = fell(40).with_second(Second(4.0, True, True, 24.0, 0.2 * STRAIGHT.throughput(20), 1.0))
    other = chosen(again, 20, 10, 40)
    assert other is None or other.size < 24
    assert chosen(fell(40), 20, 10, 40, full=0.8) is None
    assert chosen(fell(40), 20, 10, 40, may_look=False) is None


def test_a_smooth_fall_is_no_edge() -> None:
    """16 is best, 64 completes half of it, and a curve of the family goes through all that was seen."""
    seen = evidence(12, 16, 20, 32, 64, seconds=60)
    assert belief(seen).edge is None
    assert chosen(seen, 16, 8, 32) is None


def test_what_was_asked_last_is_answered_from_memory() -> None:
    now = belief(evidence(8, 16, 32))
    first = prospects(now, 16, (8, 32), 0.5)
    assert prospects(now, 16, (8, 32), 0.5) is first
    assert prospects(now, 16, (8, 31), 0.5) is not first
    again = prospects(now, 16, (8, 32), 0.5)
    assert again is not first
    assert again.mean.tolist() == first.mean.tolist()
    # One asks for a size that is not thought of: those of the others are the same.
    assert first.sizes.tolist() == [size for size in SIZES if 8 <= size <= 32]
    assert prospects(now, 16, (8, 31), 0.5).sizes.tolist() == [*first.sizes[:-1].tolist(), 31]


def test_none_within_reach_is_the_size_in_force() -> None:
    found = prospects(belief(evidence(8, 16, 32)), 16, (40, 20), 0.5)
    assert found.sizes.tolist() == [16]
    assert found.mean == pytest.approx([0.0], abs=1e-12)
    assert choose(found, Situation(1.0), nothing_yet) is None


@given(
    st.lists(st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128, 256]), max_size=4, unique=True),
    st.integers(1, 300),
    st.integers(1, 300),
    st.integers(0, 300),
    st.floats(0.0, 1.0),
    st.sampled_from([0.01, 0.25, 10.0]),
    st.builds(Curve, st.floats(1.0, 500.0), st.floats(0.0, 0.5), st.floats(0.0, 0.01)),
)
@settings(deadline=None, max_examples=60)
def test_a_choice_is_another_size_within_the_bounds(
    sizes: list[int], current: int, least: int, more: int, full: float, slo_s: float, curve: Curve
) -> None:
    found = chosen(evidence(*sizes, seconds=8, curve=curve), current, least, least + more, full, slo_s)
    if found is None:
        return
    assert least <= found.size <= least + more
    assert found.size != current
    assert np.isfinite(found.gain)
    if full < 0.5:
        assert not found.look
    if found.look:
        assert min(current - 1, current / 1.3 - 1e-9) <= found.size <= max(current + 1, current * 1.3 + 1e-9)


def test_what_lies_between_sizes_that_were_in_force_is_not_taken_for_known() -> None:
    """27 completes in proportion, and 40 a sixth of it: a cliff, somewhere between. At 27 that is no small loss."""
    seen = Evidence()
    for size, rate in ((16, 160.0), (20, 200.0), (27, 270.0), (40, 45.0)):
        for _ in range(10):
            seen = seen.with_second(Second(4.0, True, True, float(size), rate, 1.0))
    found = outlook(belief(seen), 27)
    assert found.loss > 0.02
    assert found.at_best > 0.02


def test_a_look_towards_an_edge_is_as_sure_as_the_size_that_gains() -> None:
    """10 stood, and 22 fell to a fourteenth. 12 falls with a chance of 0.2, so its mean gain is negative; it gains with
    the other 0.8."""
    seen = Evidence()
    for size, rate, seconds in ((6, 478.0, 4), (10, 800.0, 20), (22, 61.0, 3)):
        seen = seen.with_seconds(Second(4.0, True, True, float(size), rate, 1.0) for _ in range(seconds))
    of = prospects(belief(seen), 10, (5, 20), 10.0)
    look = chosen(seen, 10, 5, 20)
    assert look is not None
    assert (look.look, look.size) == (True, 12)
    at = int(np.flatnonzero(of.sizes == 12)[0])
    assert 0.2 < of.falls[at] < 0.25
    assert look.gain < -0.2
    gains = (1 - of.falls[at]) * NormalDist().cdf(of.smooth[at] / np.sqrt(of.variance[at]))
    assert NormalDist().cdf(look.sure_by) == pytest.approx(gains, abs=1e-6)
    assert gains > 0.7
