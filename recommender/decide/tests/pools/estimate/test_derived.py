"""Derived thresholds, against figures worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.derived import FACTOR, STANDS, derived_threshold
from sluice.pools.estimate.threshold import Threshold

P95 = [40.0, 50.0, 44.0]


def derived(p99_ms: list[float], standing_ms: float | None = None, p95_ms: list[float] = P95) -> Threshold:
    return derived_threshold(p95_ms, p99_ms, standing_ms, applies=False)


def test_three_times_the_median_p95() -> None:
    threshold = derived([60.0, 150.0, 110.0])
    assert (threshold.value_ms, threshold.source, threshold.applies) == (132.0, "derived", False)
    (reason,) = threshold.reasons
    assert reason.code == "SLO_DERIVED"
    assert reason.text == f"no SLO is of the pool's service: {threshold.detail}"
    assert threshold.detail == ("3 x 44 ms, the median p95 of 3 minutes in which at most half of the pool was in use")


def test_what_takes_long_while_nothing_waits_is_in_time() -> None:
    threshold = derived([160.0, 150.0, 140.0])
    assert threshold.value_ms == 150.0
    assert threshold.detail.startswith("150 ms, the median p99 of 3 minutes")


@pytest.mark.parametrize(
    ("standing_ms", "value_ms"), [(110.0, 110.0), (109.9, 132.0), (165.0, 165.0), (165.1, 132.0), (132.0, 132.0)]
)
def test_a_threshold_stays_within_a_fifth(standing_ms: float, value_ms: float) -> None:
    """132 is 20 % above 110, and 20 % below 165."""
    assert derived([60.0] * 3, standing_ms).value_ms == value_ms


def test_too_few_minutes_derive_none() -> None:
    unknown = derived([60.0, 60.0], None, [40.0, 50.0])
    assert (unknown.is_known, unknown.value_ms, unknown.reasons[0].code) == (False, 3_600_000.0, "NO_THRESHOLD")
    assert "2 of 3 minutes were seen in which at most half of the pool was in use" in unknown.reasons[0].text
    stands = derived([60.0, 60.0], 132.0, [40.0, 50.0])
    assert (stands.value_ms, stands.source) == (132.0, "derived")
    assert stands.detail.startswith("132 ms, derived earlier")


MINUTES = st.lists(st.tuples(st.floats(0.01, 1e6), st.floats(1, 10)), min_size=3, max_size=60)


@given(MINUTES, st.floats(0.01, 1e7))
def test_it_is_no_tighter_than_what_is_usual_and_moves_only_by_more_than_a_fifth(
    minutes: list[tuple[float, float]], standing_ms: float
) -> None:
    p95 = [ms for ms, _ in minutes]
    p99 = [ms * longer for ms, longer in minutes]
    new = derived_threshold(p95, p99, None, applies=True)
    assert new.value_ms >= min(FACTOR * min(p95), 3_600_000)
    assert new.value_ms <= max(FACTOR * max(p95), max(p99))
    again = derived_threshold(p95, p99, standing_ms, applies=True).value_ms
    assert again in (standing_ms, new.value_ms)
    assert abs(new.value_ms - again) <= STANDS * again
