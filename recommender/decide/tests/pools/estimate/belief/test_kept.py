"""The belief that is carried on says what the one that is made anew says."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.cache import TIMES, CachedBelief, believed, rounded
from sluice.pools.estimate.belief.evidence import Evidence, LevelRows, Second
from sluice.pools.estimate.belief.family import family
from sluice.pools.estimate.belief.posterior import posterior
from sluice_kit.decide.feeds import FALLS, evidence

SEEN = st.lists(
    st.tuples(st.sampled_from([8, 12, 16, 24, 32, 64]), st.booleans(), st.floats(0.9, 1.1)), min_size=1, max_size=60
)


@given(SEEN)
@settings(deadline=None, max_examples=20, derandomize=True)
def test_as_if_all_shapes_had_been_looked_at(seen: list[tuple[int, bool, float]]) -> None:
    now, last = evidence(8, 16, 32), None
    for size, full, off in seen:
        done = FALLS.throughput(size) * (off if full else 0.9 * off)
        now = now.with_second(Second(4.0, full, full, float(size), done, 1.0))
        last = believed(last, now, 4.0)
        anew = posterior(family(), rounded(now.rows(4.0)), 4.0).gains(16)
        kept = last.now.gains(16)
        # A tenth of what a size has to gain to be moved to, and of its standard deviation.
        assert kept.mean == pytest.approx(anew.mean, abs=4e-4)
        assert kept.variance**0.5 == pytest.approx(anew.variance**0.5, rel=0.1, abs=4e-4)


def again(
    last: CachedBelief | None, now: Evidence, off: float = 0.3, size: float = 16.0, full: bool = True
) -> CachedBelief:
    return believed(last, now.with_second(Second(4.0, full, full, size, FALLS.throughput(size) * (1 + off), 1.0)), 4.0)


def test_most_seconds_look_at_the_shapes_that_have_weight() -> None:
    now = evidence(8, 16, 32)
    first = believed(None, now, 4.0)
    assert first.times == 0
    assert believed(first, now, 4.0) is first
    then = again(first, now)
    assert then.times == 1
    assert set(then.now.shapes) <= set(first.likely)
    for turn in range(TIMES):
        then = again(then, now, off=0.3 * (turn % 2))
    assert then.times == 0


def test_a_second_that_says_nothing_new_leaves_the_belief_as_it_is() -> None:
    now = evidence(8, 16, 32).with_second(Second(4.0, False, False, 4.0, 8 * FALLS.throughput(4), 8.0))
    first = believed(None, now, 4.0)
    same = again(first, now, off=0.0, size=4.0, full=False)
    assert same.now is first.now
    assert same.evidence is not first.evidence
    # Of 8 s of a pool that is not full one second that is half as much again moves the mean by 5 %.
    assert again(first, now, off=0.5, size=4.0, full=False).now is not first.now


def test_rows_are_rounded_to_a_part_of_what_they_are_known_within() -> None:
    """At 31 completions a thread: 0.9 % is 2^-7 = 0.78 %, of which ln n moves by a quarter at most, and the rate of a
    thread by an eighth; 5.4 % is 2^-4 = 6.25 %."""
    rows = LevelRows(
        np.log([16.0, 9.7]), np.log([500.0, 300.7]), np.array([0.009, 0.054]) ** 2, np.array([True, False]), np.ones(2)
    )
    near = rounded(rows)
    assert near.ln_n == pytest.approx([2.7734, 2.28125], abs=1e-4)
    # ln 31.25 = 3.4420 in steps of 0.195 %, ln 31 = 3.4340 in steps of 3.75 %.
    assert near.ln_rate - near.ln_n == pytest.approx([3.4414, 3.4500], abs=1e-4)
    # ln 0.009 = -4.71, ln 0.054 = -2.92, in steps of 0.2.
    assert near.variance == pytest.approx(np.exp([-9.6, -6.0]))
    assert rounded(near).same(near)


def test_a_belief_is_that_of_its_evidence_whatever_was_before() -> None:
    """As after a restart: nothing that was looked at before moves it by more than rounding."""
    now, last = evidence(8, 16, 32), None
    for turn in range(30):
        now = now.with_second(Second(4.0, True, True, 16.0, FALLS.throughput(16) * (1 + 0.02 * (turn % 3)), 1.0))
        last = believed(last, now, 4.0)
        anew = believed(None, now, 4.0)
        assert last.now.rows.same(anew.now.rows)
        assert last.now.gains(16).mean == pytest.approx(anew.now.gains(16).mean, abs=1e-5)


def test_what_was_seen_while_nobody_told_the_cores_is_carried_on_and_given_up_when_somebody_does() -> None:
    now = evidence(8, 16, 32, cores=0.0)
    untold = believed(None, now, 0.0)
    assert len(untold.now.rows) == 3
    assert untold.now.gains(16).mean[:32].argmax() + 1 == pytest.approx(FALLS.best(), abs=2)
    told = believed(untold, now, 4.0)
    assert len(told.now.rows) == 0


def test_other_cores_and_what_is_nothing_like_before_are_looked_at_whole() -> None:
    now = evidence(8, 16, 32)
    first = believed(None, now, 4.0)
    assert believed(first, now, 8.0).times == 0
    # What is as it was to be expected at 64 is judged by the shapes that had weight; a tenth of it is not.
    assert again(first, now, off=0.0, size=64.0).times == 1
    assert again(first, now, off=-0.9, size=64.0).times == 0
    assert again(first, now, off=-0.9, size=64.0).now.weight == pytest.approx(
        again(None, now, off=-0.9, size=64.0).now.weight
    )


def test_a_belief_goes_to_another_process_without_its_tables() -> None:
    first = believed(None, evidence(8, 16, 32), 4.0)
    sent = pickle.dumps(first)
    assert len(sent) < 200_000
    back = pickle.loads(sent)
    assert back.now.family is family()
    assert np.array_equal(back.now.weight, first.now.weight)
