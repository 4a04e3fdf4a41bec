"""Evidence of a sample: stretches as worked by hand, and when it begins anew."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.policy.observation import Buckets, Constraints, Observation, Occupancy
from sluice.pools.policy.scaled import scalable, scaled, stretches
from sluice.pools.policy.state import Scaled
from sluice.pools.sampling.verdict import Kind, Sampling

TENTH = Sampling(Kind.SAMPLED, "ids fill 10 % of their range", 0.1, uniform=True)
FULL = Occupancy(busy=10.0, waiting=None, full_share=1.0, at_ms=0, readings=30)


def seen(in_flight: list[float], completions: float = 10, size: float = 10, since_ms: int = 0) -> Buckets:
    """Buckets of 100 ms with what a sampler left."""
    starts = since_ms + 100 * np.arange(len(in_flight))
    done, sizes = np.full(len(in_flight), float(completions)), np.full(len(in_flight), float(size))
    return Buckets(starts, np.array(in_flight), done, 0.1, sizes, np.full(len(in_flight), 4.0))


def observed(buckets: Buckets, sampling: Sampling | None = TENTH, **more: Any) -> Observation:
    return replace(Observation({"a": 10}, buckets, 4.0, 1.0, sampling=sampling, sampled=buckets), **more)


def test_three_seconds_of_a_tenth_count_as_a_third_of_a_second() -> None:
    seconds, until_ms = stretches(seen([1.0] * 35), 0.1, None, -1)
    assert [second.numbers for second in seconds] == [pytest.approx((4.0, True, True, 10, 300, 0.3))]
    assert until_ms == 2_900
    again, later_ms = stretches(seen([1.0] * 60), 0.1, None, until_ms)
    assert (len(again), later_ms) == (1, 5_900)


def test_a_full_pool_counts_at_its_size_whatever_its_buckets_show() -> None:
    """A tenth of 10 in flight is 0 to 2 at a time."""
    [second], _ = stretches(seen([0.0, 2.0, 0.9] * 10), 0.1, None, -1)
    assert (second.saturated, second.concurrency) == (True, 10)


def test_a_pool_with_room_counts_at_its_scaled_mean() -> None:
    [second], _ = stretches(seen([0.5] * 30), 0.1, None, -1)
    assert second.numbers == pytest.approx((4.0, False, False, 5, 300, 0.3))


@pytest.mark.parametrize(
    "buckets",
    [
        seen([0.8] * 30),  # nearly full
        seen([0.1] * 10 + [0.3] * 10 + [0.6] * 10),  # it fills
        seen([2.0] * 30),  # more than it holds
        replace(seen([1.0] * 30), size=np.repeat([10.0, 20.0], 15)),
        replace(seen([1.0] * 30), size=np.full(30, np.nan)),
        seen([0.5] * 500, completions=0.6),  # 6 a second
        seen([0.5] * 300, completions=1),  # 30 s of a load that may move
    ],
)
def test_a_stretch_that_says_nothing_is_left_behind(buckets: Buckets) -> None:
    seconds, until_ms = stretches(buckets, 0.1, None, -1)
    assert seconds == []
    assert until_ms == buckets.start_ms[-1]


def test_targets_tell_whether_the_pool_is_full() -> None:
    """Connections that are held between queries."""
    idle = replace(FULL, busy=2.0, full_share=0.0, busy_most=4)
    assert stretches(seen([0.4] * 30), 0.1, FULL, -1)[0][0].concurrency == 10
    assert stretches(seen([0.95] * 30), 0.1, idle, -1)[0] == []
    assert stretches(seen([0.5] * 30), 0.1, idle, -1)[0][0].concurrency == pytest.approx(5)
    assert not stretches(seen([0.4] * 30), 0.1, replace(FULL, coarse=True), -1)[0][0].full


@given(st.floats(0.05, 1.0), st.floats(1.0, 7.0), st.floats(100.0, 2_000.0))
def test_rate_and_concurrency_are_those_of_all_requests(kept: float, in_flight: float, rate: float) -> None:
    """Without a sampler, kept = 1, they are the buckets' own."""
    buckets = seen([kept * in_flight] * 700, completions=kept * rate / 10)
    for second in stretches(buckets, kept, None, -1)[0]:
        assert not second.full
        assert second.concurrency == pytest.approx(in_flight)
        assert second.completions / second.seconds == pytest.approx(rate)
        assert second.completions >= 299.9


@pytest.mark.parametrize(
    ("sampling", "can"),
    [
        (TENTH, True),
        (None, False),
        (TENTH._replace(uniform=False), False),
        (TENTH._replace(kept=None), False),
        (TENTH._replace(kept=0.01), False),
        (Sampling(Kind.TAIL_SAMPLED, "by a policy"), False),
    ],
)
def test_only_one_known_chance_of_all_traces_is_scaled(sampling: Sampling | None, can: bool) -> None:
    assert scalable(sampling) is can
    assert (scaled(None, observed(seen([1.0] * 30), sampling)) is not None) is can


def learning(sampling: Sampling = TENTH) -> Scaled:
    begun = scaled(None, observed(seen([1.0] * 30), sampling))
    after = scaled(begun, observed(seen([1.0] * 90)))
    assert after is not None
    return after


def test_what_was_there_before_the_sampler_is_not_learnt() -> None:
    assert learning().learnt.until_ms == 8_900
    assert learning().learnt.evidence.seconds_on(4.0) == pytest.approx(0.6, rel=1e-3)


def test_another_share_or_no_sampler_begins_anew() -> None:
    later = seen([1.0] * 30, since_ms=9_000)
    same = scaled(learning(), observed(later, TENTH._replace(kept=0.105)))
    other = scaled(learning(), observed(later, TENTH._replace(kept=0.2)))
    assert same is not None
    assert same.learnt.evidence.seconds_on(4.0) > 0.8
    assert other is not None
    assert (other.kept, other.learnt.evidence.seconds_on(4.0)) == (0.2, 0)
    assert scaled(learning(), observed(later, None)) is None


def test_another_version_is_another_service_and_a_callee_s_curve_is_not_the_pool_s() -> None:
    later = seen([1.0] * 30, since_ms=9_000)
    first = scaled(learning(), observed(later, version="1"))
    assert first is not None
    second = scaled(first, observed(seen([1.0] * 30, since_ms=12_000), version="2"))
    assert second is not None
    assert second.learnt.evidence.seconds_on(4.0) == pytest.approx(0.3)
    waits = scaled(learning(), observed(later, constraints=Constraints(callee="db")))
    assert waits is not None
    assert waits.learnt.evidence == learning().learnt.evidence
    assert waits.learnt.until_ms == 11_900
