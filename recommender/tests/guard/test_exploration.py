"""Whether a step of exploration gained anything, and what is proposed then."""

import numpy as np
import pytest

from humps import samples_of
from sluice.config import PoolKey
from sluice.estimate import Samples
from sluice.guard.exploration import Sight, gained, under_demand
from sluice.serve.explorations import Explorations, Verdict

KEY = PoolKey("cart", "server", "")
WINDOW = 60_000


@pytest.mark.parametrize(("after", "better"), [(120, True), (108, False), (110, False), (80, False)])
def test_more_than_noise_is_a_gain(after: float, better: bool) -> None:
    assert gained(Sight(100, 3), Sight(after, 4)) is better  # two standard errors of the difference: 10


def test_a_service_that_gives_nothing_gains_nothing() -> None:
    assert not gained(Sight(0, 0), Sight(0, 0))


def full(goodput: float, size: float, buckets: int = 100) -> Samples:
    """Half of the buckets at the size, the others nearly idle."""
    x = np.tile([1.0, size], buckets // 2)
    return samples_of(x, np.where(x > 1, goodput, 5.0))


def test_only_buckets_under_demand_are_compared() -> None:
    assert under_demand(full(100, 8), 8) == Sight(100, 0)
    assert under_demand(full(100, 8, buckets=38), 8) is None  # 19 of them
    assert under_demand(None, 8) is None


def test_a_step_is_judged_by_what_the_larger_pool_does_when_it_is_full() -> None:
    """100/s when 8 were full. Then half of the buckets at 8 complete 90/s, as few slow requests do, and 10 are full at
    120/s: right. Were the buckets at 8 counted, 105/s on average would be no gain."""
    steps = Explorations()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    x = np.tile([8.0, 10.0], 50)
    seen = samples_of(x, np.where(x > 9, 120.0, 90.0))
    assert steps.judge(KEY, 10, WINDOW, WINDOW, seen, 1) == Verdict(stands_ms=0)
    never_full = full(90, 8)
    steps.began(KEY, 8, 10, full(100, 8), 0)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, never_full, 2) == Verdict(stands_ms=0)


def judged(after: float) -> list[Verdict]:
    steps = Explorations()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    verdicts = [steps.judge(KEY, 8, 0, WINDOW, full(100, 8), 1)]  # not applied yet
    verdicts.append(steps.judge(KEY, 10, WINDOW - 1, WINDOW, full(after, 10), 2))  # older buckets are of 8
    verdicts.append(steps.judge(KEY, 10, WINDOW, WINDOW, full(after, 10), 3))
    verdicts.append(steps.judge(KEY, 10, WINDOW + 1, WINDOW, full(200, 10), 4))
    verdicts.append(steps.judge(KEY, 8, 0, WINDOW, None, 5))
    return verdicts


def test_a_step_without_gain_is_taken_back_until_it_is() -> None:
    assert judged(100) == [Verdict(), Verdict(stands_ms=0), Verdict(8, 3), Verdict(8, 3), Verdict(None, 3)]


def test_a_step_with_a_gain_stays() -> None:
    assert judged(125) == [Verdict(), *[Verdict(stands_ms=0)] * 3, Verdict()]


def test_somebody_else_resized() -> None:
    steps = Explorations()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    assert steps.judge(KEY, 20, WINDOW, WINDOW, full(100, 20), 1) == Verdict()
    assert steps.judge(KEY, 10, WINDOW, WINDOW, full(100, 10), 1) == Verdict(stands_ms=0)
