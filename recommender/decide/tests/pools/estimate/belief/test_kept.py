"""The belief that is carried on says what the one that is made anew says."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feeds import FALLS, evidence
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.estimate.belief.family import family
from sluice.pools.estimate.belief.kept import TIMES, Kept, believed
from sluice.pools.estimate.belief.posterior import posterior
from sluice.pools.policy.worth import SIZES

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
        anew = posterior(family(), now.rows(4.0), 4.0).gains(SIZES.astype(float), 16.0)
        kept = last.now.gains(SIZES.astype(float), 16.0)
        # A tenth of what a size has to gain to be moved to, and of its standard deviation.
        assert kept.mean == pytest.approx(anew.mean, abs=4e-4)
        assert kept.variance**0.5 == pytest.approx(anew.variance**0.5, rel=0.1, abs=4e-4)


def again(last: Kept | None, now: Evidence) -> Kept:
    return believed(last, now.with_second(Second(4.0, True, True, 16.0, FALLS.throughput(16), 1.0)), 4.0)


def test_most_seconds_look_at_the_shapes_that_have_weight() -> None:
    now = evidence(8, 16, 32)
    first = believed(None, now, 4.0)
    assert first.times == 0
    assert believed(first, now, 4.0) is first
    then = again(first, now)
    assert then.times == 1
    assert set(then.now.shapes) <= set(first.whole.likely)
    for _ in range(TIMES):
        then = again(then, now)
    assert then.times == 0


def test_other_cores_and_new_levels_are_looked_at_whole() -> None:
    now = evidence(8, 16, 32)
    first = believed(None, now, 4.0)
    assert believed(first, now, 8.0).times == 0
    assert believed(first, now.with_second(Second(4.0, True, True, 64.0, FALLS.throughput(64), 1.0)), 4.0).times == 0


def test_a_belief_goes_to_another_process_without_its_tables() -> None:
    first = believed(None, evidence(8, 16, 32), 4.0)
    sent = pickle.dumps(first)
    assert len(sent) < 200_000
    back = pickle.loads(sent)
    assert back.now.family is family()
    assert np.array_equal(back.now.weight, first.now.weight)
