"""Derived thresholds over periods: which minutes count, how they are read, and what outlives a takeover."""

from collections.abc import Sequence

import numpy as np

from sluice.common.v1.decision_pb2 import Reason
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.model.times import timestamp
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.sizes import SizeReport, Sizes
from sluice.pools.period.derived_thresholds import DerivedThresholds
from sluice.pools.period.resources import PoolResources
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.windows.minutes import Minutes
from sluice_kit.decide.fakes import AtOnce, FakeCollector

CART = PoolKey("cart", "server", "")
NOW_S = 1_800_000_060  # the minute before the last one is complete
END_S = 1_800_000_000
RESOURCES = PoolResources(background=AtOnce())
CONFIG = Config.model_validate({"pools": [{"service": "cart", "side": "server"}]})


def sizes(*changes: tuple[int, int]) -> Sizes:
    of = Sizes()
    for at_s, size in changes or ((END_S - 7_200, 8),):
        of.report(CART, SizeReport(size, 1_000 * at_s, written=True))
    return of


def minutes(*of: tuple[float, float], end_s: int = END_S) -> Minutes:
    """(in flight, p95 in ms) of minutes up to `end_s`; p99 is as long."""
    start_s = np.arange(end_s - 60 * len(of), end_s, 60)
    in_flight, p95 = np.array(of).T
    return Minutes(start_s, in_flight, p95, p95)


def period(
    thresholds: DerivedThresholds, collector: FakeCollector, now_s: int = NOW_S, of: Sizes | None = None
) -> Threshold:
    in_force = sizes() if of is None else of
    return thresholds.of(CONFIG, collector, lambda key: in_force, 1_000 * now_s, RESOURCES)[CART]


def periods(collector: FakeCollector, of: Sizes | None = None, count: int = 6) -> Threshold:
    thresholds = DerivedThresholds({})
    return [period(thresholds, collector, of=of) for _ in range(count)][-1]


def collector(*of: tuple[float, float]) -> FakeCollector:
    return FakeCollector(minutes_of={CART: minutes(*of)})


def test_minutes_count_in_which_at_most_half_of_the_pool_is_in_use() -> None:
    """Of a pool of 8: the 900 ms of minutes with more than 4 in flight count for nothing."""
    seen = collector((3, 40), (4, 50), (4.1, 900), (8, 900), (1, 44))
    assert periods(seen).value_ms == 132.0
    assert periods(collector((4.1, 40), (8, 44), (1, 44))).source == "none"


def test_the_size_is_that_of_the_minute() -> None:
    """16 since two minutes, 4 before: then 3 in flight were more than half."""
    of = sizes((END_S - 7_200, 4), (END_S - 120, 16))
    assert periods(collector((3, 900), (2, 40), (3, 50), (3, 44)), of).value_ms == 132.0


def test_without_a_size_nothing_counts() -> None:
    assert periods(collector((1, 40), (1, 50), (1, 44)), Sizes()).source == "none"


def test_the_hour_is_read_in_stretches_and_then_each_minute_once() -> None:
    seen, thresholds = collector((1, 40), (1, 50), (1, 44)), DerivedThresholds({})
    for _ in range(8):
        period(thresholds, seen)
    assert seen.minutes_asked_s == [(at, at + 600) for at in range(END_S - 3_600, END_S, 600)]
    period(thresholds, seen, NOW_S + 59)
    assert len(seen.minutes_asked_s) == 6
    period(thresholds, seen, NOW_S + 60)
    assert seen.minutes_asked_s[6:] == [(END_S, END_S + 60)]


def test_minutes_of_more_than_an_hour_ago_are_forgotten() -> None:
    seen, thresholds = collector(*[(1.0, 40.0)] * 60), DerivedThresholds({})
    for _ in range(6):
        assert period(thresholds, seen).source in ("derived", "none")
    seen.minutes_of = {CART: minutes(*[(1.0, 80.0)] * 60, end_s=END_S + 3_600)}
    values = [period(thresholds, seen, NOW_S + 60 * minute).value_ms for minute in range(61)]
    # The median is that of the new minutes once more than 30 of 60 are.
    assert values == [120.0] * 30 + [180.0] + [240.0] * 30


def test_a_further_pool_has_its_newest_ten_minutes_at_once() -> None:
    orders = PoolKey("orders", "server", "")
    seen, thresholds = collector((1, 40), (1, 50), (1, 44)), DerivedThresholds({})
    for _ in range(6):
        period(thresholds, seen)
    seen.minutes_of[orders] = minutes((1, 20), (1, 20), (1, 20))
    of = sizes()
    of.report(orders, SizeReport(8, 1_000 * END_S, written=True))
    both = Config.model_validate({"pools": [{"service": name, "side": "server"} for name in ("cart", "orders")]})
    values = [thresholds.of(both, seen, lambda key: of, 1_000 * NOW_S, RESOURCES) for _ in range(2)][-1]
    assert (values[CART].value_ms, values[orders].value_ms) == (132.0, 60.0)
    assert seen.minutes_asked_s[6:] == [(END_S - 600, END_S)]


def test_an_hour_that_cannot_be_read_is_read_again() -> None:
    seen, thresholds = collector((1, 40), (1, 50), (1, 44)), DerivedThresholds({})
    seen.minutes_problem = ConnectionError("down")
    assert period(thresholds, seen).source == "none"
    seen.minutes_problem = None
    assert [period(thresholds, seen) for _ in range(6)][-1].value_ms == 132.0


def journal(codes: Sequence[str], ns: int) -> dict[PoolKey, PoolSize]:
    size = PoolSize(reasons=[Reason(code=code) for code in codes], computed_at=timestamp(0))
    size.threshold.FromNanoseconds(ns)
    return {CART: size}


def test_after_a_takeover_the_threshold_of_the_journal_stands() -> None:
    """120 ms: neither the first stretch of the hour, 10 minutes at 400 ms, nor the whole hour, 132 ms, moves it."""
    seen = collector(*[(1.0, 400.0)] * 10, *[(1.0, 44.0)] * 50)
    thresholds = DerivedThresholds(journal(["BEST", "SLO_DERIVED"], 120_000_000))
    assert [period(thresholds, seen).value_ms for _ in range(7)] == [120.0] * 7
    other = DerivedThresholds(journal(["BEST"], 120_000_000))  # the threshold was an SLO's
    assert period(other, FakeCollector()).source == "none"
