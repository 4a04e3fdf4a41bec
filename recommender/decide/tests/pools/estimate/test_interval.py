"""The choice of the sampling interval, on loads whose rate and pace are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.interval import CANDIDATES_MS, choose, legal


def steady(per_s: float, stored_ms: int = 10, period_s: float = 20.0, seconds: float = 60.0) -> tuple:  # type: ignore[type-arg]
    """A sine between 1 and 19 in flight; completions exactly `per_s` all the time."""
    start = np.arange(0, round(seconds * 1000), stored_ms, dtype=np.int64)
    in_flight = 10 + 9 * np.sin(2 * np.pi * start / 1000 / period_s)
    return start, in_flight, np.full(len(start), per_s * stored_ms / 1000), stored_ms


@pytest.mark.parametrize(
    ("per_s", "ms"), [(2000, 10), (1000, 10), (999, 20), (200, 50), (100, 100), (60, 200), (3, 500)]
)
def test_ten_completions_a_bucket_where_load_moves_slowly(per_s: float, ms: int) -> None:
    """1000/s are 10 in 10 ms; 200/s in 50 ms; 60/s only 6 in 100 ms, so 200 ms; 3/s not even in 500 ms."""
    assert choose(*steady(per_s)).ms == ms


def test_load_that_moves_fast_is_sampled_faster() -> None:
    """A sine of 0.5 s keeps sin(pi T / 0.5)^2 / (pi T / 0.5)^2: 97 % at 50 ms, 88 % at 100 ms."""
    assert choose(*steady(100, period_s=0.5)).ms == 50


def test_never_under_one_completion_a_bucket() -> None:
    """8/s are 0.8 in 100 ms and 1.6 in 200 ms: blur does not bring it below that."""
    assert choose(*steady(8, period_s=0.5)).ms == 200


def test_finer_than_stored_is_said_not_to_be_had() -> None:
    choice = choose(*steady(2000, stored_ms=100))
    assert (choice.ms, choice.detail) == (
        100,
        "100 ms of 100, 200, 500: 200 completions a bucket at best, 100% of the variance of concurrency kept; "
        "finer than the stored 100 ms cannot be had",
    )


@pytest.mark.parametrize(
    ("stored_ms", "ms"),
    [(10, CANDIDATES_MS), (50, (50, 100, 200, 500)), (100, (100, 200, 500)), (250, (500,)), (700, (700,))],
)
def test_candidates_are_sums_of_stored_buckets(stored_ms: int, ms: tuple[int, ...]) -> None:
    assert legal(stored_ms) == ms


def test_a_service_that_thrashes_is_sampled_by_its_best() -> None:
    """200/s while few are in flight, 10/s while many are: 50 ms, as for 200/s all the time."""
    start, in_flight, _, _ = steady(1)
    assert choose(start, in_flight, np.where(in_flight < 15, 2.0, 0.1), 10).ms == 50


def test_idle_time_lies_between_bursts() -> None:
    """100 ms of work with 20 in flight each second: over 500 ms the bursts would be 4 in flight."""
    start = np.concatenate([np.arange(0, 100, 10) + 1000 * second for second in range(60)])
    choice = choose(start, np.full(600, 20.0), np.full(600, 0.5), 10)
    # 0.5 in 10 ms are 10 in 200 ms; of the variance 20 x 20 x 0.1 x 0.9 = 36, 100 ms keep all and 200 ms half.
    assert choice.ms == 100


@pytest.mark.parametrize(
    ("per_s", "before_ms", "ms"),
    [
        (100, 100, 100),
        (76, 100, 100),  # 7.6 in 100 ms
        (74, 100, 200),  # 7.4 in 100 ms
        (240, 100, 100),  # 12 in 50 ms
        (260, 100, 50),  # 13 in 50 ms
        (120, 200, 200),  # 12 in 100 ms
        (130, 200, 100),  # 13 in 100 ms
        (1000, 500, 10),  # far off: chosen anew
        (100, 10, 100),
        (100, 30, 100),  # no candidate any more
    ],
)
def test_an_interval_stays_until_the_data_speak_clearly_against_it(per_s: float, before_ms: int, ms: int) -> None:
    """From 100 ms to 200 ms under 7.5 completions in 100 ms, back over 12.5."""
    assert choose(*steady(per_s), before_ms).ms == ms


def test_an_interval_that_stays_says_so() -> None:
    assert choose(*steady(80), 100).detail.endswith("; 200 ms are not better by enough to change")
    assert "enough to change" not in choose(*steady(100), 100).detail


def test_blur_has_a_dead_band_too() -> None:
    """A sine of period p keeps sin(pi T / p)^2 / (pi T / p)^2: at 100 ms 88.9 % for 0.54 s, 86.6 % for 0.49 s."""
    assert choose(*steady(100, period_s=0.54)).ms == 50
    assert choose(*steady(100, period_s=0.54), 100).ms == 100
    assert choose(*steady(100, period_s=0.49), 100).ms == 50


def changes(per_s: float, hysteresis: bool) -> int:
    """How often the interval changes over 200 periods of 5 s, of Poisson completions at `per_s`."""
    dice = np.random.default_rng(7)
    start = np.arange(0, 1_060_000, 50, dtype=np.int64)
    in_flight = 10 + 9 * np.sin(2 * np.pi * start / 20_000)
    done = dice.poisson(per_s * 0.05, len(start)).astype(np.float64)
    chosen: list[int] = []
    for at in range(0, 200 * 100, 100):
        newest = slice(at, at + 1200)  # 60 s
        before_ms = chosen[-1] if hysteresis and chosen else None
        chosen.append(choose(start[newest], in_flight[newest], done[newest], 50, before_ms).ms)
    return int(np.count_nonzero(np.diff(chosen)))


@pytest.mark.parametrize("per_s", [97, 98, 99, 100, 197, 199])
def test_load_at_a_limit_does_not_make_it_flap(per_s: float) -> None:
    assert changes(per_s, hysteresis=True) <= 1


def test_load_at_a_limit_would_make_it_flap() -> None:
    """What the dead-band is for: the same data without it."""
    assert max(changes(per_s, hysteresis=False) for per_s in (97, 98, 99)) >= 10


@settings(max_examples=60)
@given(
    st.sampled_from((10, 20, 50, 100, 250, 500)),
    st.lists(st.tuples(st.floats(0.01, 1e4), st.integers(0, 1000)), min_size=1, max_size=200),
    st.randoms(),
)
def test_any_data_gets_a_legal_interval_in_any_order(
    stored_ms: int, buckets: list[tuple[float, int]], dice: object
) -> None:
    start = np.arange(len(buckets), dtype=np.int64) * stored_ms + 7_000
    x, done = (np.array(column, dtype=np.float64) for column in zip(*buckets, strict=True))
    choice = choose(start, x, done, stored_ms)
    assert choice.ms in legal(stored_ms)
    order = np.array(dice.sample(range(len(start)), len(start)))  # type: ignore[attr-defined]
    assert choose(start[order], x[order], done[order], stored_ms) == choice
    # What was chosen is kept on the same data, and what is kept is chosen again: no cycle.
    for before_ms in (choice.ms, *CANDIDATES_MS):
        kept = choose(start, x, done, stored_ms, before_ms).ms
        assert kept in (choice.ms, before_ms)
        assert choose(start, x, done, stored_ms, kept).ms == kept
    assert choose(start, x, done, stored_ms, choice.ms) == choice
    # More of the same completions never ask for a longer interval.
    assert choose(start, x, 3 * done, stored_ms).ms <= choice.ms
