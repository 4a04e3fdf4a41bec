"""What methods are told of trials that have no value."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tuning.objective.outcome import Outcome, TrialVerdict, losses, problem


def good(value: float) -> Outcome:
    return Outcome(TrialVerdict.GOOD, value)


def unsafe(excess: float) -> Outcome:
    return Outcome(TrialVerdict.UNSAFE, excess=excess)


FAILED = Outcome(TrialVerdict.FAILED)


def test_ranks_go_on_at_their_mean_distance() -> None:
    outcomes = [unsafe(0.5), good(140.0), FAILED, good(100.0), unsafe(0.1), good(110.0), FAILED]
    assert losses(outcomes) == [180.0, 140.0, 200.0, 100.0, 160.0, 110.0, 200.0]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([good(50.0), FAILED], [50.0, 55.0]),
        ([good(0.0), FAILED], [0.0, 1.0]),
        ([good(-8.0), good(-8.0), unsafe(1.0)], [-8.0, -8.0, -7.2]),
        ([FAILED, unsafe(2.0), unsafe(1.0)], [3.0, 2.0, 1.0]),
        ([], []),
        ([Outcome(TrialVerdict.HOPELESS, 9.0), good(3.0), FAILED], [9.0, 3.0, 15.0]),
        ([Outcome(TrialVerdict.HOPELESS), good(3.0)], [3.3, 3.0]),  # given up before it had a value
    ],
)
def test_few_or_equal_values(told: list[Outcome], expected: list[float]) -> None:
    assert losses(told) == pytest.approx(expected)


@given(
    st.lists(
        st.one_of(
            st.floats(-1e100, 1e100).map(good),
            st.floats(0, 1e9).map(unsafe),
            st.just(FAILED),
        ),
        max_size=20,
    )
)
def test_good_before_unsafe_before_failed(told: list[Outcome]) -> None:
    values = losses(told)
    assert all(map(math.isfinite, values))
    order = {TrialVerdict.GOOD: 0, TrialVerdict.UNSAFE: 1, TrialVerdict.FAILED: 2}
    for one, loss in zip(told, values, strict=True):
        for other, others in zip(told, values, strict=True):
            assert order[one.verdict] >= order[other.verdict] or loss <= others


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (good(math.nan), "value: nan is not legal; legal: -1e+100 to 1e+100"),
        (good(math.inf), "value: inf is not legal; legal: -1e+100 to 1e+100"),
        (Outcome(TrialVerdict.GOOD), "value: is missing; legal: a number for a good trial"),
        (Outcome(TrialVerdict.GOOD, 1.0, 2.0, 1.0), "lower: 2 is above upper: 1; legal: lower <= upper"),
        (unsafe(math.nan), "excess: nan is not legal; legal: >= 0, finite"),
        (good(1.0), None),
        (FAILED, None),
    ],
)
def test_what_may_be_told(told: Outcome, message: str | None) -> None:
    assert problem(told) == message
