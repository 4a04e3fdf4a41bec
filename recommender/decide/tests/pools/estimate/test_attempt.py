"""One estimate as a job: with memory, with drift, and when it fails."""

from dataclasses import replace

import numpy as np

from humps import samples_of
from sluice.pools.estimate import Samples, State
from sluice.pools.estimate.attempt import Failed, Job, Outcome, attempt, attempt_all
from sluice.pools.estimate.memory import Rates

STARTS = 100 * np.arange(600)


def hump(buckets: int, top: float = 12) -> Samples:
    x = np.linspace(0.5, 36, buckets)
    return samples_of(x, np.maximum(np.minimum(10 * x, 10 * top - 5 * (x - top)), 0))


def test_a_third_of_the_evidence_does_when_it_agrees_with_what_is_remembered() -> None:
    few = hump(120)
    assert attempt(Job("scg", few)).estimate.state is State.LEARNING
    agrees = attempt(Job("scg", few, band=(10, 14))).estimate
    assert agrees.state is State.PROVIDED
    assert "AGREES_WITH_MEMORY" in [reason.code for reason in agrees.reasons]
    assert attempt(Job("scg", few, band=(20, 30))).estimate.state is State.LEARNING
    assert attempt(Job("scg", hump(99), band=(10, 14))).estimate.state is State.LEARNING


def test_evidence_goes_by_the_length_of_its_buckets() -> None:
    """30 s are 300 buckets of 100 ms and 150 of 200 ms; with memory 12 s of the latter do, of 500 ms all 30 s."""
    state = {n: attempt(Job("scg", hump(n), bucket_ms=200)).estimate.state for n in (149, 150)}
    assert state == {149: State.LEARNING, 150: State.PROVIDED}
    assert attempt(Job("scg", hump(150))).estimate.state is State.LEARNING
    agrees = [attempt(Job("scg", hump(n), band=(10, 14), bucket_ms=200)).estimate.state for n in (59, 60)]
    assert agrees == [State.LEARNING, State.PROVIDED]
    assert attempt(Job("scg", hump(59), band=(10, 14), bucket_ms=500)).estimate.state is State.LEARNING


def test_memory_adds_nothing_to_full_evidence() -> None:
    alone, remembered = attempt(Job("scg", hump(600))), attempt(Job("scg", hump(600), band=(20, 30)))
    assert alone.estimate.target == remembered.estimate.target
    assert remembered.estimate.reasons == alone.estimate.reasons


def test_what_was_before_a_drift_has_no_part_in_the_estimate() -> None:
    x = np.tile([1.0, 2.0, 3.0], 200)
    samples = samples_of(x, 10 * x)
    slower = replace(samples, throughput_per_s=np.where(STARTS < 40_000, 10 * x, 6 * x))
    levels = np.array([1.0, 2.0, 3.0])
    then = Rates(levels, 10 * levels, 10 * levels, np.full(3, 200.0))
    outcome = attempt(Job("scg", slower, STARTS, then, band=(2, 3)))
    assert outcome.shift is not None
    assert outcome.estimate.state is State.LEARNING
    assert "200 buckets with traffic" in outcome.estimate.reasons[0].text


def test_one_that_fails_does_not_take_the_others_away() -> None:
    broken = replace(hump(600), goodput_per_s=np.ones(599))
    first, second = attempt_all([Job("scg", broken), Job("scg", None)])
    assert isinstance(first, Failed)
    assert isinstance(second, Outcome)
    assert second.estimate.state is State.NO_DATA
