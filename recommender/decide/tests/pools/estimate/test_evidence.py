from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate import evidence
from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.unimodal import unimodal_fit
from sluice_kit.decide.humps import samples_of


def points(x: list[float], y: list[float]) -> Curve:
    return Curve(np.array(x), np.array(y), np.full(len(x), 10.0))


def test_too_few_buckets_levels_or_coverage_are_named() -> None:
    wide = samples_of(np.linspace(1, 40, 299), np.ones(299))
    assert evidence.lacking(wide, 40, evidence.NEED) == "299 buckets with traffic, 300 are needed"
    wide = samples_of(np.linspace(1, 40, 300), np.ones(300))
    assert evidence.lacking(wide, 5, evidence.NEED) == "5 levels of concurrency seen, 6 are needed"
    assert evidence.lacking(wide, 6, evidence.NEED) is None
    # Quantiles of 40..60: 41 and 59, 1 - 41 / 59 = 0.305.
    steady = samples_of(np.linspace(40, 60, 300), np.ones(300))
    assert (
        evidence.lacking(steady, 20, evidence.NEED)
        == "concurrency stayed between 41.0 and 59.0 (coverage 0.31, 0.5 is needed)"
    )


def test_the_band_holds_what_is_within_a_tenth_of_the_best() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0]
    fitted = np.array([50.0, 90.0, 100.0, 96.0, 60.0])
    exact = samples_of(np.repeat(x, 10), np.repeat(fitted, 10))
    top = evidence.find_top(points(x, fitted.tolist()), fitted, exact)
    assert (top.goodput_per_s, top.lower, top.upper, top.first) == (100.0, 2.0, 4.0, 3.0)


def test_noise_widens_the_band_by_its_standard_error() -> None:
    """At 1 in flight: 0 and 172 by turns, mean 86, sd 90.7, error of 10 buckets 28.7: 86 is told apart no longer."""
    x = [1.0, 2.0, 3.0]
    fitted = np.array([86.0, 100.0, 20.0])
    goodput = np.concatenate((np.tile([0.0, 172.0], 5), np.full(10, 100.0), np.full(10, 20.0)))
    noisy = samples_of(np.repeat(x, 10), goodput)
    assert evidence.find_top(points(x, fitted.tolist()), fitted, noisy).lower == 1.0


def test_a_fall_must_be_larger_than_noise() -> None:
    x, fitted = [1.0, 2.0, 3.0], np.array([50.0, 100.0, 80.0])
    calm = samples_of(np.repeat(x, 10), np.repeat(fitted, 10) + np.tile([-1.0, 1.0], 15))
    assert evidence.falling(points(x, fitted.tolist()), fitted, calm) is not None
    # +-40 at 3 in flight: error 42.2 / sqrt(10) = 13.3, three of them are more than the fall of 20.
    wild = samples_of(np.repeat(x, 10), np.repeat(fitted, 10) + np.concatenate((np.zeros(20), np.tile([-40.0, 40], 5))))
    assert evidence.falling(points(x, fitted.tolist()), fitted, wild) is None


def test_flat_needs_a_band_twice_as_wide_as_where_it_begins() -> None:
    fitted = np.array([50.0, 95.0, 100.0, 100.0])
    x = np.array([1.0, 5.0, 8.0, 10.0])
    seen = samples_of(x, fitted)
    parts = evidence.flat(points(x.tolist(), fitted.tolist()), fitted, seen)
    assert parts is not None
    assert [x[part].tolist() for part in parts] == [[5.0], [8.0, 10.0]]  # divided at 7.07
    assert evidence.flat(points([1, 5.1, 8, 10], fitted.tolist()), fitted, seen) is None


def test_a_fall_is_not_flat_but_one_within_noise_is() -> None:
    x, fitted = [1.0, 2.0, 8.0, 10.0], np.array([50.0, 95.0, 100.0, 80.0])
    curve = points(x, fitted.tolist())
    calm = samples_of(np.repeat(x, 10), np.repeat(fitted, 10) + np.tile([-1.0, 1.0], 20))
    assert evidence.falling(curve, fitted, calm) is not None
    assert evidence.flat(curve, fitted, calm) is None
    # +-40 at 10 in flight, as above: nothing tells 80 from 97.5.
    noise = np.concatenate((np.zeros(30), np.tile([-40.0, 40], 5)))
    wild = samples_of(np.repeat(x, 10), np.repeat(fitted, 10) + noise)
    assert evidence.falling(curve, fitted, wild) is None
    assert evidence.flat(curve, fitted, wild) is not None


def test_a_fall_that_is_shallow_from_the_whole_band_is_one() -> None:
    """From 100 to 87 at the end: the band (90 to 100) has a mean of 95.3, what is above it 87.5, 8 % less."""
    x, fitted = [1.0, 2.0, 4.0, 8.0, 16.0, 20.0], np.array([50.0, 92.0, 100.0, 94.0, 88.0, 87.0])
    seen = samples_of(np.repeat(x, 10), np.repeat(fitted, 10) + np.tile([-1.0, 1.0], 30))
    assert evidence.end_of_rise(points(x, fitted.tolist()), fitted, seen) is evidence.End.FALL


@given(
    heights=st.lists(st.floats(0.0, 100.0), min_size=2, max_size=20).filter(lambda y: max(y) > 1.0),
    first=st.floats(0.1, 10.0),
    step=st.floats(0.1, 10.0),
    noise=st.sampled_from([0.0, 1.0, 20.0]),
    buckets=st.integers(2, 12),
)
def test_every_curve_rises_or_is_flat_or_falls_and_only_one_of_them(
    heights: list[float], first: float, step: float, noise: float, buckets: int
) -> None:
    x = [first + step * i for i in range(len(heights))]
    goodput = np.repeat(heights, buckets) + noise * np.resize([-1.0, 1.0], len(heights) * buckets)
    seen = samples_of(np.repeat(x, buckets), goodput)
    fitted = unimodal_fit(np.array(heights), np.full(len(heights), float(buckets)))
    curve = points(x, heights)
    falls = evidence.falling(curve, fitted, seen) is not None
    flat = evidence.flat(curve, fitted, seen) is not None
    rises = not falls and evidence.rising(curve, fitted)
    assert falls + flat + rises == 1
    assert (evidence.end_of_rise(curve, fitted, seen) is evidence.End.NONE) == rises


@pytest.mark.parametrize(("last", "end"), [(40.0, evidence.End.FALL), (98.0, evidence.End.FLAT)])
def test_an_end_of_the_rise_is_believed_when_it_is_seen_in_turns(last: float, end: evidence.End) -> None:
    """4, 8 and 16 in flight, 20 buckets of each: one after the other, or in turns."""
    x, fitted = [4.0, 8.0, 16.0], np.array([91.0, 100.0, last])
    noise = np.tile([-1.0, 1.0], 30)
    seen = samples_of(np.repeat(x, 20), np.repeat(fitted, 20) + noise)
    curve = points(x, fitted.tolist())
    assert evidence.end_of_rise(curve, fitted, seen) is end  # nobody knows when
    times = np.arange(60) * 100
    once = replace(seen, start_ms=times)
    assert evidence.end_of_rise(curve, fitted, once) is evidence.End.ONCE
    assert evidence.end_of_rise(curve, fitted, replace(seen, start_ms=times[::-1])) is evidence.End.ONCE
    turns = replace(seen, start_ms=times.reshape(20, 3).T.ravel())
    assert evidence.end_of_rise(curve, fitted, turns) is end
    rising = np.array([20.0, 60.0, 100.0])
    assert evidence.end_of_rise(points(x, rising.tolist()), rising, turns) is evidence.End.NONE
