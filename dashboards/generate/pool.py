"""Panels of one pool, which the variables choose."""

from grafana_foundation_sdk.builders import common, timeseries, xychart
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, LineInterpolation
from grafana_foundation_sdk.models.dashboard import Panel
from grafana_foundation_sdk.models.xychart import (
    MatcherConfig,
    SeriesMapping,
    XychartXYSeriesConfigFrame,
    XychartXYSeriesConfigName,
    XychartXYSeriesConfigX,
    XychartXYSeriesConfigY,
    XYSeriesConfig,
    XYShowMode,
)

from generate.clickhouse import DATASOURCE, table, time_series
from generate.parts import FULL, HALF, HEIGHT, lines, set_to
from generate.variables import IN_POOL, POOL_ARGUMENTS


def panels() -> list[Builder[Panel]]:
    return [sizes(), curve(), goodput(), in_flight(), peaks()]


def sizes() -> timeseries.Panel:
    sql = f"""
        SELECT
            at AS time,
            target AS recommended,
            current,
            unguarded_target AS unguarded,
            lower_bound AS lower,
            upper_bound AS upper
        FROM sluice.recommendations
        WHERE $__timeFilter_ms(at) AND {IN_POOL}
        ORDER BY time
    """
    dashed = set_to("custom.lineStyle", {"fill": "dash", "dash": [6, 6]})
    hidden = {"legend": True, "tooltip": False, "viz": False}
    band = [
        set_to("custom.lineWidth", 0),
        set_to("custom.showPoints", "never"),
        set_to("custom.hideFrom", hidden),
    ]
    return (
        lines(
            "Recommended and current size: $service $side $peer",
            "Target size, size in force, best size without constraints (unguarded), and range. A gap is a decision "
            "without the value. Marks are actuations.",
            time_series(sql),
        )
        .line_interpolation(LineInterpolation.STEP_AFTER)
        .override_by_name("recommended", [set_to("color", {"mode": "fixed", "fixedColor": "green"})])
        .override_by_name("current", [set_to("color", {"mode": "fixed", "fixedColor": "blue"})])
        .override_by_name("unguarded", [dashed, set_to("color", {"mode": "fixed", "fixedColor": "yellow"})])
        .override_by_name("lower", band)
        .override_by_name("upper", [*band, set_to("custom.fillBelowTo", "lower"), set_to("custom.fillOpacity", 12)])
    )


class _Series(Builder[XYSeriesConfig]):
    """A series of a chart of points: column `y` over column `x`."""

    def __init__(self, name: str, x: str, y: str) -> None:
        self._name, self._x, self._y = name, x, y

    def build(self) -> XYSeriesConfig:
        return XYSeriesConfig(
            name=XychartXYSeriesConfigName(fixed=self._name),
            frame=XychartXYSeriesConfigFrame(matcher=MatcherConfig("byIndex", 0)),
            x=XychartXYSeriesConfigX(matcher=MatcherConfig("byName", self._x)),
            y=XychartXYSeriesConfigY(matcher=MatcherConfig("byName", self._y)),
        )


def curve() -> xychart.Panel:
    sql = f"""
        SELECT concurrency, goodput_per_s, throughput_per_s, samples, latency_source
        FROM sluice.v_goodput_curve_between({POOL_ARGUMENTS})
    """
    return (
        xychart.Panel()
        .title("Goodput curve: $service $side $peer within $threshold_ms ms")
        .description(
            "Completions per second and instance over concurrency; each point is the mean of the buckets at one level. "
            "latency_source `own`: there are no callers' spans, and a wait for the pool is invisible."
        )
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .with_target(table(sql))
        .mapping(SeriesMapping.MANUAL)
        .series(
            [
                _Series("goodput", "concurrency", "goodput_per_s"),
                _Series("throughput", "concurrency", "throughput_per_s"),
            ]
        )
        .show(XYShowMode.POINTS)
        .min(0)
        .override_by_name("concurrency", [set_to("custom.axisLabel", "in flight, an instance")])
        .override_by_name("goodput_per_s", [set_to("unit", "reqps")])
        .override_by_name("throughput_per_s", [set_to("unit", "reqps")])
        .legend(
            common.VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
        )
    )


def goodput() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(bucket) AS time,
            sum(goodput_per_s * bucket_ms / 1000) / $__interval_s AS goodput,
            sum(throughput_per_s * bucket_ms / 1000) / $__interval_s AS throughput
        FROM sluice.v_goodput_buckets({POOL_ARGUMENTS})
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "Goodput within $threshold_ms ms: $service $side $peer",
        "Completions per second and instance, and the part within the threshold.",
        time_series(sql),
        unit="reqps",
    )


def in_flight() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(bucket) AS time,
            avg(concurrency) AS mean,
            quantile(0.95)(concurrency) AS p95,
            max(concurrency) AS highest
        FROM sluice.v_windows
        WHERE $__timeFilter_ms(bucket) AND {IN_POOL}
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "In flight: $service $side $peer",
        "Time-weighted concurrency of an instance, in buckets with work.",
        time_series(sql),
    )


def peaks() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(start) AS time,
            sum(busy_ns) / 60e9 / uniqExact(instance, start) AS mean,
            max(highest_concurrency) AS highest
        FROM sluice.v_windows_1m
        WHERE $__timeFilter(start) AND {IN_POOL}
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "In flight by the minute: $service $side $peer",
        "From the rollup, which has a longer retention than windows: the mean of a minute of an instance with work, "
        "and the highest window. For days and weeks.",
        time_series(sql),
    ).span(FULL)
