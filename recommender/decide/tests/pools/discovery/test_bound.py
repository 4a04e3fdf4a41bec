"""Whether concurrency shows a bound: worked numbers, and simulated flows with and without one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.discovery.bound import CandidateCourse, bound_of

SECONDS, BUCKET_S = 300, 0.1
PER_S = round(1 / BUCKET_S)


def course(level: np.ndarray, callers: np.ndarray, per_s: float = 20.0) -> CandidateCourse:
    """One instance that completes `per_s` a second and request in flight."""
    return CandidateCourse(level[None], level[None], level * per_s, callers, BUCKET_S)


def half(quiet: float, full: float) -> np.ndarray:
    """A minute of full seconds behind four quiet minutes."""
    return np.repeat([quiet, full], [240, 60])


def test_a_level_that_stops_while_callers_have_more_is_a_bound() -> None:
    callers = half(4.2, 0.0)
    callers[240:] = np.linspace(15, 40, 60)
    bound = bound_of(course(half(4.0, 10.0), callers))
    assert bound is not None
    assert str(bound) == "an instance stops at 10 in flight, while its callers have 18 to 38 in flight"


@pytest.mark.parametrize(
    ("callers", "cause"),
    [
        (half(4.2, 10.5), "as many users as are in flight, and a network of 5 %"),
        (half(4.2, 30.0), "callers have more, but always as many"),
        (np.concatenate([np.full(240, 12.0), np.linspace(15, 40, 60)]), "a call waits as long in quiet seconds"),
    ],
)
def test_a_flat_level_alone_is_no_bound(callers: np.ndarray, cause: str) -> None:
    assert bound_of(course(half(4.0, 10.0), callers)) is None, cause


def test_a_constant_load_has_no_quiet_seconds() -> None:
    callers = np.linspace(15, 40, SECONDS)
    assert bound_of(course(np.full(SECONDS, 10.0), callers)) is None


def test_full_seconds_are_twenty_times_as_many_as_a_request_takes() -> None:
    """A minute of full seconds is 20 requests of 3 s."""
    callers = half(4.2, 0.0)
    callers[240:] = np.linspace(15, 40, 60)
    assert bound_of(course(half(4.0, 10.0), callers, 1 / 2.9)) is not None
    assert bound_of(course(half(4.0, 10.0), callers, 1 / 3.1)) is None


def test_nothing_completed() -> None:
    nothing = np.zeros(SECONDS)
    assert bound_of(course(nothing, nothing)) is None


def flow(
    rng: np.random.Generator, rates: np.ndarray, duration_s: float, slots: int, network_s: float
) -> CandidateCourse:
    """Poisson arrivals at a rate of each second, exponential durations, `slots` at once in order of arrival; callers
    have a request in flight from its arrival to its end, and the network before and after."""
    counts = rng.poisson(rates)
    arrive = np.sort(np.repeat(np.arange(SECONDS), counts) + rng.random(counts.sum()))
    free = np.zeros(slots)
    begin, takes = np.empty(len(arrive)), rng.exponential(duration_s, len(arrive))
    for i, at in enumerate(arrive):
        slot = free.argmin()
        begin[i] = max(at, free[slot])
        free[slot] = begin[i] + takes[i]
    end = begin + takes
    buckets = _in_flight(begin, end)
    callers = _in_flight(arrive - network_s, end + network_s)
    done = np.bincount(end[end < SECONDS].astype(int), minlength=SECONDS).astype(float)
    by_second = buckets.reshape(SECONDS, PER_S)
    level, top = by_second.mean(axis=1)[None], by_second.max(axis=1)[None]
    return CandidateCourse(level, top, done, callers.reshape(SECONDS, PER_S).mean(axis=1), BUCKET_S)


def _in_flight(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The mean number in flight of each bucket: how much of it has begun, less how much has ended, by its end."""

    def until(times: np.ndarray) -> np.ndarray:
        edges = np.arange(SECONDS * PER_S + 1) * BUCKET_S
        ordered, sums = np.sort(times), np.concatenate([[0.0], np.cumsum(np.sort(times))])
        before = np.searchsorted(ordered, edges)
        return before * edges - sums[before]

    return np.maximum(np.diff(until(begin) - until(end)) / BUCKET_S, 0.0)


@pytest.mark.parametrize(("slots", "duration_s"), [(4, 0.05), (10, 0.02), (20, 0.1), (64, 0.05)])
def test_a_pool_that_bursts_fill_shows_its_bound(slots: int, duration_s: float) -> None:
    """Bursts of 4 s at 1.3 times what it takes, each 12 s; else a quarter of it."""
    rng = np.random.default_rng(1)
    capacity = slots / duration_s
    rates = np.where(np.arange(SECONDS) % 12 < 4, 1.3, 0.25) * capacity
    bound = bound_of(flow(rng, rates, duration_s, slots, 0.001))
    assert bound is not None
    assert round(bound.level) == slots


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    in_flight=st.floats(0.2, 60),
    duration_s=st.floats(0.005, 3),
    swing=st.floats(0, 1),
    period_s=st.floats(5, 400),
    steps=st.booleans(),
    network=st.floats(0, 3),
)
def test_a_flow_without_a_bound_shows_none(
    seed: int, in_flight: float, duration_s: float, swing: float, period_s: float, steps: bool, network: float
) -> None:
    """M/G/inf under a demand that swings, or steps. network: of each call, by its duration."""
    phase = np.sin(2 * np.pi * np.arange(SECONDS) / period_s)
    rates = np.minimum(in_flight / duration_s, 1_000) * (1 + swing * (np.sign(phase) if steps else phase)) / 2
    shown = flow(np.random.default_rng(seed), rates, duration_s, 400, network * duration_s / 2)
    assert bound_of(shown) is None
