"""Growth of a pool whose model sees no end of its curve."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.model.states import State
from sluice.pools.estimate import Estimate, Samples
from sluice.pools.estimate.attempt import EstimateJob, attempt_all
from sluice.pools.estimate.growth import as_published, gated, larger, newest_size
from sluice.pools.estimate.models import ESTIMATORS
from sluice_kit.decide.humps import samples_of

NONE = Estimate(State.LEARNING, (), pool_limited=True)


def full(*parts: tuple[int, float, float]) -> Samples:
    """Full buckets of 100 ms, oldest first: (size, completions a second, seconds)."""
    level = np.concatenate([np.full(round(10 * seconds), float(size)) for size, _, seconds in parts])
    per_s = np.concatenate([np.full(round(10 * seconds), per_s) for _, per_s, seconds in parts])
    return replace(samples_of(level, per_s), limit=level)


def step(samples: Samples, estimate: Estimate = NONE) -> tuple[int | None, bool]:
    grown = gated(estimate, samples, newest_size(samples), 0.1)
    return grown.target, grown.unpaid


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (full((5, 500, 29.9)), (None, False)),  # too little was seen
        (full((5, 500, 30)), (7, False)),
        (full((5, 500, 30), (7, 690, 2.9)), (None, False)),  # 7 is not judged yet
        (full((5, 500, 30), (7, 690, 3)), (9, False)),  # 190 more of 200: over a third of what is proportional
        (full((5, 500, 30), (7, 560, 3)), (5, True)),  # 60 of 200
        (full((5, 500, 30), (7, 690, 30), (9, 700, 3)), (7, True)),  # the nearest smaller size is the measure
        (full((9, 700, 30), (7, 690, 3)), (None, False)),  # 9 was tried
        (full((9, 900, 30), (7, 690, 3)), (9, False)),  # and paid
    ],
)
def test_a_step_has_to_pay(samples: Samples, expected: tuple[int | None, bool]) -> None:
    assert step(samples) == expected


def test_a_model_that_names_a_size_is_not_overruled() -> None:
    named = Estimate(State.PROVIDED, (), target=4)
    assert gated(named, full((5, 500, 60)), 5, 0.1) is named


@pytest.mark.parametrize("model", ["scg", "scg-top", "scg-unimodal", "sct", "scg-kneedle"])
def test_a_full_pool_of_which_nothing_completes_does_not_grow(model: str) -> None:
    silent = full((5, 0, 60))
    (estimate,) = attempt_all([EstimateJob(model, replace(silent, completions=np.zeros(600)))])
    assert isinstance(estimate, Estimate)
    assert (estimate.state, estimate.target) == (State.NO_DATA, None)


def test_a_pool_that_thrashes_when_full_does_not_grow() -> None:
    half = samples_of(np.full(300, 6.0), np.full(300, 700.0), limit=10)
    more = samples_of(np.full(300, 10.0), np.full(300, 600.0), limit=10)
    joined = [np.concatenate(pair) for pair in zip(columns(half), columns(more), strict=True)]
    thrashes = Samples(*joined, instances=1, caller_judged=True)
    assert step(thrashes) == (None, False)
    assert step(replace(thrashes, completions=thrashes.completions[::-1])) == (13, False)


def columns(samples: Samples) -> list[np.ndarray]:
    return [
        samples.concurrency,
        samples.goodput_per_s,
        samples.throughput_per_s,
        samples.completions,
        samples.limit,
    ]


def test_without_a_known_size_nothing_grows() -> None:
    unknown = replace(full((5, 500, 60)), limit=np.full(600, np.nan))
    assert newest_size(unknown) is None
    assert step(unknown) == (None, False)
    assert gated(NONE, None, 5, 0.1) is NONE


def test_the_newest_bucket_has_the_size_in_force() -> None:
    samples = full((5, 500, 1), (7, 700, 1))
    assert newest_size(samples) == 7
    assert newest_size(replace(samples, start_ms=np.arange(20)[::-1])) == 5


def test_as_published_a_full_pool_grows_by_a_quarter_whatever_it_gains() -> None:
    samples = full((5, 500, 1))
    assert as_published(NONE, samples, 5).target == 7
    edge = Estimate(State.PROVIDED, (), target=4)
    assert as_published(edge, samples, 5).target == 7
    below = Estimate(State.PROVIDED, (), target=3)
    assert as_published(below, samples, 5).target == 3
    assert as_published(NONE, samples, None) is NONE


@pytest.mark.parametrize("model", ["scg", "scg-top", "scg-unimodal", "sct"])
def test_every_model_leaves_a_pool_that_is_too_small(model: str) -> None:
    samples = full((5, 500, 60))
    assert ESTIMATORS[model].estimate(samples).target is None
    (grown,) = attempt_all([EstimateJob(model, samples)])
    assert isinstance(grown, Estimate)
    assert (grown.target, grown.state, grown.reasons[0].code) == (7, State.UNSATURATED, "GROWS")


def test_without_a_size_in_force_there_is_no_step() -> None:
    """A target that could not be read for a minute had 32, was full, and 4 was best: 40 is nothing to propose."""
    (estimate,) = attempt_all([EstimateJob("scg", full((5, 500, 60)), sized=False)])
    assert isinstance(estimate, Estimate)
    assert (estimate.target, [reason.code for reason in estimate.reasons][:1]) != (7, ["GROWS"])
    assert estimate.target is None


def test_the_model_that_compares_does_not_grow() -> None:
    (estimate,) = attempt_all([EstimateJob("scg-kneedle", full((5, 500, 60)))])
    assert isinstance(estimate, Estimate)
    assert (estimate.target, estimate.compares) == (None, True)


@example(knee=14, start=9, steps=3)
@given(knee=st.integers(1, 60), start=st.integers(1, 60), steps=st.integers(1, 30))
def test_a_service_with_a_knee_gets_no_more_than_two_steps_beyond_it(knee: int, start: int, steps: int) -> None:
    """Of a full pool at every size. A step over the knee may pay by a third, as 12 -> 15 does for a knee of 14, so that
    another one follows."""
    size, parts = start, [(start, 10.0 * min(start, knee), 30.0)]
    for _ in range(steps):
        target, unpaid = step(full(*parts[-6:]))
        if target is None or unpaid:
            size = target or size
            break
        size = target
        parts.append((size, 10.0 * min(size, knee), 10.0))
    assert size <= max(larger(start), larger(larger(knee)))
