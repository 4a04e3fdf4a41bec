"""How many calls are in flight: by hand."""

import pytest

from sluice.model.demand import Demand
from sluice.pools.policy.callers import callers_of
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Learnt

NOW_MS = 1_000_000


def beats(size: int = 4, callers: float = 10.5, judged: float = 28.0) -> tuple[Beat, ...]:
    return tuple(Beat(at, size, 28.0, 0.0, 4.0, 1.0, judged, judged / 2, callers) for at in range(5))


def minute(waiting: float | None = 6.4, age_ms: int = 40_000) -> Demand:
    return Demand(NOW_MS - age_ms, asked_per_s=28.0, in_time=0.5, in_flight=4.0, waiting=waiting)


def test_the_newest_seconds_show_it_where_callers_judge() -> None:
    assert callers_of(Learnt(beats=beats(), demand=minute(waiting=60.0)), 4, NOW_MS) == 10


@pytest.mark.parametrize("of", [beats(size=8), beats(judged=0.0), beats(judged=5.0), ()])
def test_else_the_newest_minute(of: tuple[Beat, ...]) -> None:
    """Seconds of another size, of no judge, and of too few judged completions (25 of 50) show nothing."""
    assert callers_of(Learnt(beats=of, demand=minute()), 4, NOW_MS) == 10


@pytest.mark.parametrize("demand", [None, minute(waiting=None), minute(age_ms=120_001)])
def test_nothing_shows_it(demand: Demand | None) -> None:
    assert callers_of(Learnt(demand=demand), 4, NOW_MS) == 0
