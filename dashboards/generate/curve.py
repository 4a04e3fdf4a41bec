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
from generate.variables import IN_POOL, PEER, SIDE, number, text

# The view reads fine windows: 9,000 of an instance.
MINUTES = 15
# The table keeps the newest belief of a quarter of an hour: at any time there is one that is at most so old.
KEPT_MINUTES = 15
_BELIEF = set_to("color", {"mode": "fixed", "fixedColor": "orange"})


class _Series(Builder[XYSeriesConfig]):
    """A series of a chart of points: column `y` over column `x`, of one of the panel's queries."""

    def __init__(self, name: str, query: int, x: str, y: str) -> None:
        self._name, self._query, self._x, self._y = name, query, x, y

    def build(self) -> XYSeriesConfig:
        return XYSeriesConfig(
            name=XychartXYSeriesConfigName(fixed=self._name),
            frame=XychartXYSeriesConfigFrame(matcher=MatcherConfig("byIndex", self._query)),
            x=XychartXYSeriesConfigX(matcher=MatcherConfig("byName", self._x)),
            y=XychartXYSeriesConfigY(matcher=MatcherConfig("byName", self._y)),
        )


def curve() -> xychart.Panel:
    seen = f"""
        SELECT concurrency, goodput_per_s, throughput_per_s, samples, latency_source
        FROM sluice.v_goodput_curve_between(
            service = {text("service")}, side = {SIDE}, peer = {PEER},
            threshold_ms = {number("threshold_ms")}, {newest(MINUTES)})
        WHERE {text("side")} = {SIDE}
    """
    believed = f"""
        SELECT size, believed_per_s, lower_per_s, upper_per_s, best, at
        FROM
        (
            SELECT sizes, expected_per_s, lower_per_s, upper_per_s, best, at
            FROM sluice.pool_beliefs
            WHERE {IN_POOL} AND at <= $__toTime_ms AND at > $__toTime_ms - INTERVAL {MINUTES + KEPT_MINUTES} MINUTE
            ORDER BY at DESC
            LIMIT 1
        )
        ARRAY JOIN sizes AS size, expected_per_s AS believed_per_s, lower_per_s, upper_per_s
        ORDER BY size
    """
    line = [set_to("unit", "reqps"), set_to("custom.show", "lines")]
    edge = [*line, set_to("custom.lineStyle", {"fill": "dash", "dash": [6, 6]}), set_to("custom.lineWidth", 1), _BELIEF]
    return (
        xychart.Panel()
        .title("Goodput curve: $service $side $peer within $threshold_ms ms")
        .description(
            "Points: completions per second and instance over concurrency, in the newest 15 min of the time range; "
            "each is the mean of the buckets at one level, and `samples` their number. Goodput is those within the "
            "threshold. latency_source `own`: there are no callers' spans, and a wait for the pool is invisible. "
            "Lines: what the recommender expects of a full pool of that size, from all of its evidence: completions "
            "per second and instance without errors, however long they take. Compare them with throughput, not with "
            "goodput. The central 80 % of the belief lie between the dashed lines."
        )
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .no_value(
            "No span of this pool ended in the newest 15 min of the time range, and the recommender had no belief: it "
            "has one after the first seconds with spans, and none with another model such as `scg`."
        )
        .with_target(table(seen))
        .with_target(table(believed, "B"))
        .mapping(SeriesMapping.MANUAL)
        .series(
            [
                _Series("goodput", 0, "concurrency", "goodput_per_s"),
                _Series("throughput", 0, "concurrency", "throughput_per_s"),
                _Series("believed", 1, "size", "believed_per_s"),
                _Series("lower", 1, "size", "lower_per_s"),
                _Series("upper", 1, "size", "upper_per_s"),
            ]
        )
        .show(XYShowMode.POINTS)
        .min(0)
        .override_by_name("concurrency", [set_to("custom.axisLabel", "in flight, an instance")])
        .override_by_name("goodput_per_s", [set_to("unit", "reqps")])
        .override_by_name("throughput_per_s", [set_to("unit", "reqps")])
        .override_by_name("believed_per_s", [*line, _BELIEF])
        .override_by_name("lower_per_s", edge)
        .override_by_name("upper_per_s", edge)
        .legend(
            common.VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
        )
    )
