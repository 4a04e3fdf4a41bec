"""Sizes, overrides and legends of all panels."""

from grafana_foundation_sdk.builders import common, dashboard, table, timeseries
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, TooltipDisplayMode
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Threshold, ThresholdsMode

from generate.clickhouse import DATASOURCE, Query

HALF, FULL = 12, 24
HEIGHT = 8
# Tables of 10 s windows: intervals are rounded up to whole tens of seconds.
TENS = "(intDiv($__interval_s + 9, 10) * 10)"


def lines(title: str, description: str, *queries: Query, unit: str = "short") -> timeseries.Panel:
    """A time series over half the width. It starts at 0 and leaves gaps without data."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .unit(unit)
        .min(0)
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
        .legend(
            common.VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
            .calcs(["lastNotNull"])
        )
    )
    for query in queries:
        panel = panel.with_target(query)
    return panel


def rows(title: str, description: str, query: Query) -> table.Panel:
    """A table over half the width."""
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .with_target(query)
    )


def lateness(yellow: float, red: float) -> dashboard.ThresholdsConfig:
    """Green below both values. Without steps a panel has Grafana's default: red from 80."""
    steps = [Threshold(None, "green"), Threshold(yellow, "yellow"), Threshold(red, "red")]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


def with_units(panel: table.Panel, **units: str) -> table.Panel:
    """Gives columns their units, by name."""
    for column, unit in units.items():
        panel = panel.override_by_name(column, [set_to("unit", unit)])
    return panel


def set_to(option: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=option, value=value)
