"""One estimate as a job: by the length of its buckets, and when it fails."""

from dataclasses import replace

import numpy as np

from sluice.model.states import State
from sluice.pools.estimate import Estimate, Samples
from sluice.pools.estimate.attempt import EstimateJob, Failed, attempt_all
from sluice_kit.decide.humps import samples_of


def hump(buckets: int, top: float = 12) -> Samples:
    x = np.linspace(0.5, 36, buckets)
    return samples_of(x, np.maximum(np.minimum(10 * x, 10 * top - 5 * (x - top)), 0))


def state(job: EstimateJob) -> State:
    (found,) = attempt_all([job])
    assert isinstance(found, Estimate)
    return found.state


def test_evidence_goes_by_the_length_of_its_buckets() -> None:
    """30 s are 300 buckets of 100 ms and 150 of 200 ms."""
    states = {n: state(EstimateJob("scg", hump(n), bucket_ms=200)) for n in (149, 150)}
    assert states == {149: State.LEARNING, 150: State.PROVIDED}
    assert state(EstimateJob("scg", hump(150))) is State.LEARNING


def test_one_that_fails_does_not_take_the_others_away() -> None:
    broken = replace(hump(600), goodput_per_s=np.ones(599))
    first, second = attempt_all([EstimateJob("scg", broken), EstimateJob("scg", None)])
    assert isinstance(first, Failed)
    assert isinstance(second, Estimate)
    assert second.state is State.NO_DATA
