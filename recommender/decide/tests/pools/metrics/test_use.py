"""Occupancy and waits by metrics, worked by hand."""

import pytest

from sluice.model.keys import PoolKey
from sluice.pools.inputs.occupancy import OccupancyReport, occupancy
from sluice.pools.inputs.sizes import SizeReport, Sizes
from sluice.pools.metrics.in_force import notes_of, targets_of
from sluice.pools.metrics.matching import Matches
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.metrics.pool_metric import PoolMetric
from sluice.pools.metrics.use import Figure, FigureReading, Use, report_of, waits_of

NOW = 1_700_000_000_000
DB = PoolKey("shop", "client", "db/shop")
PENDING = "db.client.connections.pending_requests"
NS_PER_S = 10**9


def level(metric: str, *values: int, every_s: int = 60, age_s: int = 5) -> Figure:
    """A point in each window, the last one `age_s` old."""
    ages = [age_s + every_s * at for at in reversed(range(len(values)))]
    points = [(NOW - 1_000 * age, value) for age, value in zip(ages, values, strict=True)]
    return Figure(metric, [FigureReading(at, at, 1, of, of, of, of, 1, 0) for at, of in points])


def counter(metric: str, *values: int, delta: int = 0, series: tuple[int, ...] = ()) -> Figure:
    """The last value of each window, or what it counted where `delta`; a minute apart."""
    of = series or (1,) * len(values)
    times = [NOW - 5_000 - 60_000 * at for at in reversed(range(len(values)))]
    rows = zip(times, values, of, strict=True)
    return Figure(metric, [FigureReading(at, at, 1, value, 0.0, value, value, name, delta) for at, value, name in rows])


def use(**figures: Figure) -> Use:
    return figures


def test_two_points_a_minute_apart_are_a_full_pool() -> None:
    """4, 10, 10 of 10: the newest two count, until the next point is 15 s late."""
    report = report_of(use(used=level("u", 4, 10, 10), pending=level(PENDING, 0, 8, 12)), 10, 0)
    assert report == OccupancyReport(NOW - 5_000, 2, 2, (10, 10, 10), (12, 12, 12), fresh_ms=75_000, coarse=True)
    told = occupancy([(report,)], NOW)
    assert told is not None
    assert (told.busy, told.waiting, told.full_share, told.coarse) == (10, 12, 1.0, True)
    assert occupancy([(report,)], NOW + 70_000) is not None
    assert occupancy([(report,)], NOW + 70_001) is None


@pytest.mark.parametrize(
    ("waited_s", "waits", "since_ms", "queued"),
    [
        # 1,560 s in all, and 120 s more in a minute: two callers on the mean, for 20 ms each.
        ((0, 1_560, 1_680), (0, 1, 6_001), 0, 2.0),
        # Under the size in force there are two points.
        ((0, 1_560, 1_680), (0, 1, 6_001), NOW - 70_000, 2.0),
        # Each acquisition is counted, and takes 0.1 ms.
        ((0, 1_560, 1_680), (0, 1, 1_200_001), 0, 0.0),
        # A counter began anew, or is not there.
        ((1_560, 1_680, 0), (0, 1, 6_001), 0, None),
        ((0, 1_560, 1_680), (), 0, None),
        ((), (0, 1, 6_001), 0, None),
    ],
)
def test_a_counter_of_waiting_time_says_who_waited_between_two_points(
    waited_s: tuple[int, ...], waits: tuple[int, ...], since_ms: int, queued: float | None
) -> None:
    figures = {"used": level("u", 4, 10, 1)}
    if waited_s:
        figures["wait_time"] = counter("w", *(seconds * NS_PER_S for seconds in waited_s))
    if waits:
        figures["waits"] = counter("w", *waits)
    report = report_of(figures, 10, since_ms)
    assert report is not None
    assert report.queued == queued


def test_of_several_instances_the_fewest_that_wait_count() -> None:
    reports = [OccupancyReport(NOW, 2, 0, (1, 1, 1), queued=queued, coarse=True) for queued in (2.0, 3.0, None)]
    found = [occupancy([(report,) for report in reports[:count]], NOW) for count in (2, 3)]
    assert [of_pool and of_pool.queued for of_pool in found] == [2.0, 0.0]


def test_one_point_is_a_moment_and_no_evidence() -> None:
    assert report_of(use(used=level("u", 10)), 10, 0) is None
    assert report_of(use(pending=level(PENDING, 3, 3)), 10, 0) is None
    assert report_of(use(used=level("u", 10, 10)), 10, NOW - 30_000) is None  # one of them under this size


def test_short_intervals_are_as_an_actuator_s_readings() -> None:
    """Each 10 s: the newest 30 s have four readings, of which the pool was full in three."""
    report = report_of(use(used=level("u", 1, 1, 4, 10, 10, 10, every_s=10)), 10, 0)
    assert report is not None
    assert (report.readings, report.full, report.fresh_ms, report.coarse) == (4, 3, 25_000, False)
    assert report.waiting is None


def test_of_a_window_with_several_points_one_at_least_was_full() -> None:
    """Ten points from 3 to 10 of 10, then ten of 10."""
    readings = [FigureReading(NOW - 10_000, NOW - 19_000, 10, 3, 7, 10, 70, 1, 0)]
    readings += [FigureReading(NOW, NOW - 9_000, 10, 10, 10, 10, 100, 1, 0)]
    report = report_of(use(used=Figure("u", readings)), 10, 0)
    assert report is not None
    assert (report.readings, report.full, report.fresh_ms) == (20, 11, 16_000)


def test_a_pool_without_a_limit_is_never_full() -> None:
    report = report_of(use(used=level("u", 10, 10)), None, 0)
    assert report is not None
    assert report.full == 0


@pytest.mark.parametrize(
    ("figure", "per_s"),
    [
        (counter("w", 100, 160), 1.0),
        (counter("w", 160, 100), None),  # it began again
        (counter("w", 100, 160, series=(1, 2)), None),  # of another series
        (counter("w", 30, 60, delta=1), 1.0),  # 60 in the minute since the point before
        (counter("w", 100), None),
    ],
)
def test_a_counter_s_rate_is_that_between_its_newest_windows(figure: Figure, per_s: float | None) -> None:
    assert figure.per_s == per_s


def test_callers_that_wait_are_said_with_their_number_time_and_metric() -> None:
    """In a minute 1,200 waited 48 s together: 40 ms each; 3 got none."""
    waits = use(
        pending=level(PENDING, 9, 12),
        wait_time=counter("t", 0, 48 * NS_PER_S),
        waits=counter("t", 0, 1_200),
        timeouts=counter("o", 0, 3),
    )
    (reason,) = waits_of(DB, [waits], NOW)
    assert reason.code == "CALLERS_WAIT"
    assert reason.text == (
        f"12 callers wait for a connection, for 40 ms on the mean, and 0.05 a second get none in time, by {PENDING}"
    )
    assert waits_of(DB, [waits], NOW + 71_000) == ()  # the next point is missing
    assert waits_of(DB, [waits, waits], NOW)[0].text.startswith("24 callers wait for a connection, for 40 ms")


def test_without_a_number_of_callers_their_time_gives_it() -> None:
    """120 s of waiting in a minute are two callers at a time."""
    waits = use(wait_time=counter("go.sql.connections_wait_duration", 0, 120 * NS_PER_S))
    (reason,) = waits_of(DB._replace(side="server"), [waits], NOW)
    assert reason.text == "2 callers wait for a thread, by go.sql.connections_wait_duration"
    assert waits_of(DB, [use(wait_time=counter("t", 0, 50 * NS_PER_S))], NOW) == ()
    assert waits_of(DB, [use(pending=level(PENDING, 5, 0))], NOW) == ()


def kept(size: int, of: Use, at_ms: int = NOW - 125_000) -> MetricSizes:
    """The size of shop-0 since `at_ms`, and what is used of it."""
    row = PoolMetric("shop", "shop-0", "client", "p", "", 1, "m pool=p", size, size, at_ms, NOW - 5_000)
    sizes = MetricSizes()
    sizes.take(Matches({DB: [row]}, {}, {DB: {"shop-0": of}}), NOW)
    return sizes


def test_a_pool_that_no_actuator_reports_has_the_occupancy_of_its_metrics() -> None:
    (target,) = targets_of(DB, Sizes(), kept(10, use(used=level("u", 10, 10))), NOW)
    assert (target.size, target.from_metrics, target.occupancy[0].full) == (10, True, 2)
    (target,) = targets_of(DB, Sizes(), kept(10, {}), NOW)
    assert target.occupancy == ()


def test_an_actuator_s_own_occupancy_goes_first() -> None:
    metrics, own = kept(10, use(used=level("u", 10, 10))), OccupancyReport(NOW, 3, 0, (1, 1.0, 2))
    for report, full in ((None, 2), (own, 0)):
        actuator = Sizes()
        for ago_ms in (130_000, 0):
            actuator.report(DB, SizeReport(10, NOW - ago_ms, "shop-0", occupancy=report))
        (target,) = targets_of(DB, actuator, metrics, NOW)
        assert (target.from_metrics, target.occupancy[-1].full) == (False, full)


def test_what_was_used_before_an_actuator_set_the_size_says_nothing() -> None:
    actuator = Sizes()
    actuator.report(DB, SizeReport(10, NOW - 130_000, "shop-0"))
    actuator.report(DB, SizeReport(20, NOW - 30_000, "shop-0", written=True))
    (target,) = targets_of(DB, actuator, kept(10, use(used=level("u", 10, 10))), NOW)
    assert (target.size, target.occupancy) == (20, ())


def test_the_answer_says_who_waits() -> None:
    metrics = kept(10, use(pending=level(PENDING, 3, 3)))
    targets = targets_of(DB, Sizes(), metrics, NOW)
    assert [note.code for note in notes_of(DB, targets, Sizes(), metrics, NOW)] == ["CALLERS_WAIT"]


def test_a_pod_that_is_gone_uses_nothing() -> None:
    """Its last point is three minutes old: neither a size nor occupancy."""
    gone = kept(10, use(used=level("u", 10, 10, age_s=181)))
    assert targets_of(DB, Sizes(), gone, NOW + 176_000) == ()
    (target,) = targets_of(DB, Sizes(), gone, NOW)
    assert occupancy([target.occupancy], NOW) is None


def test_two_agents_that_send_one_series_count_once() -> None:
    """Both send 10 of 10 each minute, at once or 2 s apart: nothing is known of the minute between."""
    for apart_ms, full, fresh_ms in ((0, 2, 75_000), (2_000, 4, 17_000)):
        times = (NOW - 65_000, NOW - 5_000)
        readings = [FigureReading(at, at - apart_ms, 2, 10, 10.0, 10, 20, 1, 0) for at in times]
        report = report_of(use(used=Figure("u", readings)), 10, 0)
        assert report is not None
        assert (report.busy, report.coarse) == ((10, 10.0, 10), True)
        assert (report.full, report.readings, report.fresh_ms) == (full, full, fresh_ms)
