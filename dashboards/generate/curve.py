"""The panel of a pool's goodput curve."""

from grafana_foundation_sdk.builders import common, xychart
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement
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

from generate.clickhouse import DATASOURCE, table
from generate.levels import newest
from generate.parts import HALF, HEIGHT, set_to
from generate.variables import PEER, number, text

# The view reads fine windows: 9,000 of an instance.
MINUTES = 15


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
        FROM sluice.v_goodput_curve_between(
            service = {text("service")}, side = {text("side")}, peer = {PEER},
            threshold_ms = {number("threshold_ms")}, {newest(MINUTES)})
    """
    return (
        xychart.Panel()
        .title("Goodput curve: $service $side $peer within $threshold_ms ms")
        .description(
            "Completions per second and instance over concurrency, in the newest 15 min of the time range; each point "
            "is the mean of the buckets at one level; `samples` is their number. latency_source `own`: there are no "
            "callers' spans, and a wait for the pool is invisible."
        )
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .no_value("No span of this pool ended in the newest 15 min of the time range.")
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
