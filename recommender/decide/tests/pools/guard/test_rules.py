"""Each rule of the guard alone, then the chain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.config import Bounds, Limits
from sluice.pools.guard import guard
from sluice.pools.guard.backends import Ceiling
from sluice.pools.guard.rules import Context, bounds, cool_down, dead_band, max_step, quiet_hours


def context(
    low: int = 1,
    high: int = 100,
    step: int | None = None,
    current: int | None = None,
    band: tuple[int, int] | None = None,
) -> Context:
    lower, upper = band or (None, None)
    limits = Limits(bounds=Bounds(min=low, max=high), max_step_up=step, max_step_down=step)
    return Context(limits, current=current, lower=lower, upper=upper)


@pytest.mark.parametrize(("size", "passed"), [(1, 4), (4, 4), (9, 9), (32, 32), (33, 32)])
def test_bounds(size: int, passed: int) -> None:
    change = bounds(size, context(4, 32))
    assert (change.size if change else size) == passed
    assert (change is None) == (size == passed)


@pytest.mark.parametrize(("size", "passed"), [(12, 48), (48, 48), (60, 60), (80, 80), (99, 80)])
def test_max_step_from_64_by_16(size: int, passed: int) -> None:
    change = max_step(size, context(step=16, current=64))
    assert (change.size if change else size) == passed


def test_max_step_says_nothing_without_a_current_size() -> None:
    assert max_step(12, context(step=16)) is None
    assert max_step(12, context(current=64)) is None


@pytest.mark.parametrize(("current", "passed"), [(10, 12), (11, 11), (12, 12), (13, 13), (14, 12), (64, 12)])
def test_dead_band_around_12(current: int, passed: int) -> None:
    """A tenth of 12 is 1.2: 11 and 13 stay. 10 and 14 are in the band, but too far."""
    change = dead_band(12, context(current=current, band=(10, 15)))
    assert (change.size if change else 12) == passed


def test_dead_band_ends_at_the_band() -> None:
    assert dead_band(12, context(current=13, band=(10, 12))) is None
    assert dead_band(12, context(current=13)) is None


def test_every_rule_that_changed_something_names_itself() -> None:
    guarded = guard(12, context(50, 100, step=16, current=64, band=(10, 15)))
    assert (guarded.size, guarded.unguarded) == (50, 12)  # 64 - 16 = 48, under the bound of 50
    assert [reason.code for reason in guarded.reasons] == ["MAX_STEP", "BOUNDS"]
    assert guarded.reasons[0].text == "12 is more than 16 from the current 64"
    assert guarded.reasons[1].text == "48 is outside the pool's bounds 50..100"


def test_a_size_that_passes_is_not_guarded() -> None:
    guarded = guard(12, context(2, 128, step=64, current=64, band=(10, 15)))
    assert (guarded.size, guarded.unguarded, guarded.reasons) == (12, None, ())


sizes = st.integers(1, 500)


@given(sizes, sizes, sizes, st.none() | sizes, st.none() | sizes, st.none() | st.tuples(sizes, sizes))
def test_nothing_passes_the_bounds(
    size: int, one: int, other: int, step: int | None, current: int | None, band: tuple[int, int] | None
) -> None:
    low, high = sorted((one, other))
    guarded = guard(size, context(low, high, step, current, band))
    assert low <= guarded.size <= high
    assert (guarded.unguarded is None) == (guarded.size == size)


HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("size", "since_ms", "passed"),
    [(12, 59_999, 64), (12, 60_000, 12), (80, 9_999, 64), (80, 10_000, 80), (12, None, 12), (64, 0, 64)],
)
def test_cool_down_is_longer_before_a_shrink(size: int, since_ms: int | None, passed: int) -> None:
    """Defaults: 60 s down, 10 s up."""
    change = cool_down(size, Context(Limits(), current=64, since_change_ms=since_ms))
    assert (change.size if change else size) == passed


@pytest.mark.parametrize(("hour", "passed"), [(21.99, 12), (22, 64), (0, 64), (5.99, 64), (6, 12), (12, 12)])
def test_quiet_hours_over_midnight(hour: float, passed: int) -> None:
    limits = Limits.model_validate({"quiet_hours": ["22:00-06:00"]})
    change = quiet_hours(12, Context(limits, now_ms=round(hour * HOUR_MS), current=64))
    assert (change.size if change else 12) == passed


def test_without_a_known_size_there_is_nothing_to_keep() -> None:
    limits = Limits.model_validate({"quiet_hours": ["00:00-00:00"]})
    assert quiet_hours(12, Context(limits)) is None
    assert cool_down(12, Context(limits, since_change_ms=0)) is None


def test_steps_up_and_down_are_apart() -> None:
    limits = Limits(max_step_up=4, max_step_down=16)
    up, down = max_step(90, Context(limits, current=64)), max_step(12, Context(limits, current=64))
    assert up is not None
    assert down is not None
    assert (up.size, down.size) == (68, 48)


def test_a_backend_is_relieved_even_while_the_pool_cools_down() -> None:
    context = Context(Limits(), current=30, since_change_ms=0, ceiling=Ceiling(14, "db is full"))
    guarded = guard(20, context)
    assert guarded.size == 14
    assert [reason.code for reason in guarded.reasons] == ["COOL_DOWN", "BACKEND_LIMIT"]


def test_what_was_measured_in_force_does_not_wait_for_the_cool_down() -> None:
    assert cool_down(12, Context(Limits(), current=64, since_change_ms=0, measured=True)) is None


@pytest.mark.parametrize(
    ("heading", "size", "waits"),
    [
        (12, 12, False),  # 64 -> 12 by an actuator that goes by halves
        (12, 14, False),
        (32, 12, True),  # arrived where the last answer led: a new change
        (None, 12, True),
        (40, 12, True),  # the last answer asked for more
        (40, 36, False),
        (12, 36, True),
    ],
)
def test_steps_towards_the_last_target_do_not_wait_for_one_another(heading: int | None, size: int, waits: bool) -> None:
    change = cool_down(size, Context(Limits(), current=32, since_change_ms=0, heading=heading))
    assert (change is not None) == waits
