"""Sizes by metrics over time: their age, changes between two points, and readings that fail."""

import math

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.inputs.sizes import SizeReport, Sizes
from sluice.pools.metrics.in_force import notes_of, targets_of
from sluice.pools.metrics.matching import Matches
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric
from sluice.pools.period.resources import PoolResources
from sluice_kit.decide.fakes import CART, AtOnce, FakeCollector, config

NOW = 1_700_000_000_000
S = 1_000


def point(size: int, at_ms: int, instance: str = "cart-0", high: int | None = None) -> PoolMetric:
    series = "tomcat.thread.limit tomcat.thread.pool.name=http"
    return PoolMetric(
        "cart", instance, "server", "http", "", 1, series, size, size if high is None else high, at_ms, at_ms
    )


def sizes(*points: PoolMetric, now_ms: int = NOW, key: PoolKey = CART) -> MetricSizes:
    of = MetricSizes()
    of.take(Matches({key: list(points)}, {}), now_ms)
    return of


def at(of: MetricSizes, *ages_s: int) -> list[float]:
    known = of.sizes(CART)
    assert known is not None
    limits = known.limits(CART, np.array([NOW - S * age for age in ages_s]))
    assert limits is not None
    return limits.tolist()


def read(of: MetricSizes, now_ms: int = NOW, after_ms: int = 0) -> dict[str, int | None]:
    targets = of.targets(CART, now_ms, after_ms)
    assert all(target.from_metrics for target in targets)
    return {target.instance: target.size for target in targets}


def test_a_size_counts_for_three_intervals_of_an_agent() -> None:
    of = sizes(point(64, NOW))
    assert read(of, NOW + 180 * S) == {"cart-0": 64}
    assert read(of, NOW + 181 * S) == {}


def test_a_size_of_0_is_no_limit() -> None:
    assert read(sizes(point(0, NOW))) == {"cart-0": None}


def test_between_two_points_that_differ_the_size_is_unknown() -> None:
    """64 until 120 s ago, 32 from 60 s ago on."""
    values = at(sizes(point(64, NOW - 120 * S), point(32, NOW - 60 * S)), 130, 121, 119, 61, 60, 0)
    assert values[:2] == [64, 64]
    assert all(math.isnan(value) for value in values[2:4])
    assert values[4:] == [32, 32]


def test_a_window_in_which_the_size_changed_has_none() -> None:
    of = sizes(point(32, NOW - 60 * S, high=64))
    assert read(of) == {}
    of.take(Matches({CART: [point(32, NOW - 60 * S, high=64), point(64, NOW)]}, {}), NOW)
    assert read(of) == {"cart-0": 64}


def test_points_that_were_read_before_change_nothing() -> None:
    old, new = point(64, NOW - 60 * S), point(32, NOW)
    of = sizes(old, new)
    of.take(Matches({CART: [old, new]}, {}), NOW + 10 * S)
    assert read(of, NOW + 10 * S) == {"cart-0": 32}
    assert at(of, 0) == [32]


def test_a_clock_that_is_ahead_gives_no_size_of_the_future() -> None:
    of = sizes(point(64, NOW + 3_600 * S))
    assert read(of, NOW + 181 * S) == {}


def test_a_pool_that_came_into_doubt_has_no_size() -> None:
    of = sizes(point(64, NOW))
    of.take(Matches({}, {CART: "two of them"}), NOW + 10 * S)
    assert (read(of, NOW + 10 * S), of.sizes(CART)) == ({}, None)
    assert notes_of(CART, (), Sizes(), of, NOW)[0].code == "POOL_AMBIGUOUS"


def test_after_a_failed_reading_the_last_sizes_stay() -> None:
    collector = FakeCollector(metrics=MetricsReading([point(64, NOW)], {}))
    of, resources = MetricSizes(), PoolResources(background=AtOnce())
    of.look(config(), collector, NOW, resources)
    collector.metrics_problem = ConnectionError("down")
    of.look(config(), collector, NOW + 10 * S, resources)
    assert resources.problems.counts == {"sizes from metrics": 1}
    assert read(of, NOW + 10 * S) == {"cart-0": 64}


def test_they_are_read_every_ten_seconds() -> None:
    collector = FakeCollector(metrics=MetricsReading([point(64, NOW)], {}))
    of, resources = MetricSizes(), PoolResources(background=AtOnce())
    of.look(config(), collector, NOW, resources)
    collector.metrics = MetricsReading([point(32, NOW + S)], {})
    of.look(config(), collector, NOW + 9 * S, resources)
    assert read(of, NOW + 9 * S) == {"cart-0": 64}
    of.look(config(), collector, NOW + 10 * S, resources)
    assert read(of, NOW + 10 * S) == {"cart-0": 32}


def actuator(size: int | None, at_ms: int, instance: str = "cart-0") -> Sizes:
    of = Sizes()
    of.report(CART, SizeReport(size, at_ms, instance))
    return of


def test_an_actuator_s_report_goes_before_metrics() -> None:
    (target,) = targets_of(CART, actuator(32, NOW), sizes(point(64, NOW)), NOW)
    assert (target.size, target.from_metrics) == (32, False)


def test_a_metric_of_before_the_actuator_s_last_report_lags_and_does_not_count() -> None:
    """The actuator set 32, and was gone a minute later. The metric of before says 64; the one of after says 32."""
    gone = actuator(32, NOW - 61 * S)
    assert targets_of(CART, gone, sizes(point(64, NOW - 61 * S)), NOW) == ()
    (target,) = targets_of(CART, gone, sizes(point(64, NOW - 90 * S), point(32, NOW - 30 * S)), NOW)
    assert (target.size, target.from_metrics) == (32, True)


def test_a_difference_from_the_actuator_is_said_once_the_size_was_in_force_at_the_metric_s_time() -> None:
    since = NOW - 30 * S
    of = actuator(32, since)
    targets = of.targets(CART, NOW)
    (reason,) = notes_of(CART, targets, of, sizes(point(64, since + 5 * S)), NOW)
    assert reason.code == "METRICS_DIFFER"
    assert reason.text == "metrics have cart-0 64, and the actuator read 32; the actuator's size counts"
    for lagging in (since + 5 * S - 1, since - 60 * S):
        assert notes_of(CART, targets, of, sizes(point(64, lagging)), NOW) == ()
    assert notes_of(CART, targets, of, sizes(point(32, NOW)), NOW) == ()
    assert notes_of(CART, targets, of, sizes(point(64, NOW, "other")), NOW) == ()
    assert notes_of(CART, targets, of, sizes(point(0, NOW)), NOW)[0].text.startswith("metrics have cart-0 no limit")


def test_a_pool_without_metrics_says_nothing() -> None:
    assert targets_of(CART, Sizes(), MetricSizes(), NOW) == ()
    assert notes_of(CART, (), Sizes(), MetricSizes(), NOW) == ()
