"""When a smaller size is not chosen for what callers see in time: by hand."""

from math import log
from typing import cast

import pytest

from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.in_time import more_in_time
from sluice.pools.policy.pace import Beat

SLO_S = 0.05


class Knows:
    """A belief that a full pool of 50 completes `per_s`."""

    def __init__(self, per_s: float = 1_010.0) -> None:
        self._ln_rate = log(per_s)

    def predict(self, n: float, full: bool) -> tuple[float, float]:
        assert (n, full) == (50, True)
        return self._ln_rate, 0.0


def beats(in_time: float = 704.0, callers: float = 104.0, seconds: int = 5, judged: float = 800.0) -> tuple[Beat, ...]:
    """100 threads complete 800 a second."""
    return tuple(Beat(at, 100, 800.0, 0.0, 100.0, 1.0, judged, in_time, callers) for at in range(seconds))


def why(of: tuple[Beat, ...], size: int = 50, slo_s: float = SLO_S, per_s: float = 1_010.0) -> str:
    return more_in_time(of, cast(Posterior, Knows(per_s)), 100, size, slo_s)


def test_it_stays_where_callers_see_more_in_time() -> None:
    """104 callers share 1,010 a second: 103 ms each, 1.44 deviations beyond 50 ms, so 0.074 of 1,010 are in time."""
    assert why(beats()) == "704/s in time at 100, 75/s expected at 50"


@pytest.mark.parametrize(
    "of",
    [
        beats(in_time=74.0),
        # Of 160 callers 60 wait for a place: how long those at a smaller size would wait is not shown.
        beats(callers=160.0),
        # As few as would all have a place among 50.
        beats(callers=49.0),
        # Nobody judges, or too few completions.
        beats(judged=0.0, in_time=0.0),
        beats(judged=9.0, in_time=9.0),
        (),
    ],
)
def test_else_the_smaller_size_may_be_chosen(of: tuple[Beat, ...]) -> None:
    assert why(of) == ""


def test_a_larger_size_is_not_kept_from() -> None:
    assert why(beats(), size=101) == ""


def test_at_a_longer_slo_all_are_in_time() -> None:
    assert why(beats(in_time=800.0), slo_s=0.4) == ""


@pytest.mark.parametrize(("per_s", "kept"), [(1_599.0, True), (1_601.0, False)])
def test_a_size_that_completes_less_than_half_is_left_whatever_the_slo(per_s: float, kept: bool) -> None:
    assert bool(why(beats(in_time=800.0), per_s=per_s)) == kept


def test_only_the_newest_seconds_of_the_size_in_force_count() -> None:
    """Five of them; those before, at another size, and at this one earlier do not."""
    earlier = tuple(beat._replace(second=beat.second - 20) for beat in beats(in_time=0.0, seconds=9))
    other = (Beat(-1, 50, 1_010.0, 0.0, 50.0, 1.0, 1_010.0, 0.0, 104.0),)
    assert why((*earlier, *other, *beats())) == why(beats())


def test_callers_of_a_pool_that_was_never_full_may_come_as_often_as_now() -> None:
    """104 callers, an SLO of 90 ms: where they share 1,010 a second, each takes 103 ms, and 0.393 of them are in time,
    398; where 800 come in a second, each takes 50 / 1,010 = 49.5 ms, and 0.884 are, 707. The mean of both is 552.5."""
    kept = more_in_time(beats(in_time=560.0), cast(Posterior, Knows()), 100, 50, 0.09, crowded=True)
    assert kept == "560/s in time at 100, 553/s expected at 50"
    assert more_in_time(beats(in_time=550.0), cast(Posterior, Knows()), 100, 50, 0.09, crowded=True) == ""
