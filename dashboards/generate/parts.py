"""Sizes, overrides and legends of all panels."""

from grafana_foundation_sdk.builders import common, dashboard, table, timeseries
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, TooltipDisplayMode
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Threshold, ThresholdsMode

from generate.clickhouse import DATASOURCE, Query
from generate.prometheus import PROMETHEUS, Target

HALF, FULL = 12, 24
HEIGHT = 8
# Tables of 10 s windows: intervals are rounded up to whole tens of seconds.
TENS = "(intDiv($__interval_s + 9, 10) * 10)"


# Text of a panel without rows, where the panel's own description has no better reason.
EMPTY = "No data in this time range. `./sluice doctor` names the stage that stopped."
# The recommender records a decision at each change, and an unchanged one once a minute.
STALE_S = 150
# Grafana writes the text of an empty panel also into each cell and legend without a value. `-` is also the value of the
# variable `peer` for a server pool, which a link takes from the cell.
_NO_VALUE = DynamicConfigValue(id_val="noValue", value="-")


def lines(title: str, description: str, *queries: Target, unit: str = "short", empty: str = EMPTY) -> timeseries.Panel:
    """A time series over half the width. It starts at 0 and leaves gaps. `empty`: its text without data."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE if all(isinstance(query, Query) for query in queries) else PROMETHEUS)
        .span(HALF)
        .height(HEIGHT)
        .unit(unit)
        .no_value(empty)
        .min(0)
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
        .legend(
            common.VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
            .calcs(["lastNotNull"])
        )
        .override_by_regexp(".*", [_NO_VALUE])
    )
    for query in queries:
        panel = panel.with_target(query)
    return panel


def rows(title: str, description: str, query: Query, empty: str = EMPTY) -> table.Panel:
    """A table over half the width. `empty`: its text without rows."""
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .no_value(empty)
        .override_by_regexp(".*", [_NO_VALUE])
        .with_target(query)
    )


def colored(panel: table.Panel, column: str, colors: dict[str, str]) -> table.Panel:
    """Gives the values of a column their colours."""
    mappings = [{"type": "value", "options": {value: {"color": color} for value, color in colors.items()}}]
    cell = set_to("custom.cellOptions", {"type": "color-text"})
    return panel.override_by_name(column, [cell, set_to("mappings", mappings)])


def linked(panel: table.Panel, column: str, title: str, url: str) -> table.Panel:
    """Makes values of a column links."""
    return panel.override_by_name(column, [set_to("links", [{"title": title, "url": url}])])


# The dashboard of the pool in a row of a table with the columns service, side and peer.
POOL_URL = (
    "/d/sluice-pool?${__url_time_range}&${datasource:queryparam}&var-service=${__data.fields.service:percentencode}"
    "&var-side=${__data.fields.side:percentencode}&var-peer=${__data.fields.peer:percentencode}"
)


def of_service(panel: table.Panel, column: str) -> table.Panel:
    """Makes the services in a column links to their server pool and to their containers."""
    name, kept = f"${{__data.fields.{column}:percentencode}}", "${__url_time_range}&${datasource:queryparam}"
    urls = {
        "Server pool": f"/d/sluice-pool?{kept}&var-service={name}&var-side=server&var-peer=-",
        "Containers": f"/d/sluice-containers?{kept}&var-services={name}",
    }
    return panel.override_by_name(
        column, [set_to("links", [{"title": title, "url": url} for title, url in urls.items()])]
    )


def steps(*above: tuple[float, str], base: str = "green") -> dashboard.ThresholdsConfig:
    """Colours from values on. Without steps a panel has Grafana's default: red from 80."""
    thresholds = [Threshold(None, base), *(Threshold(value, color) for value, color in above)]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(thresholds)


def with_units(panel: table.Panel, **units: str) -> table.Panel:
    """Gives columns their units, by name."""
    for column, unit in units.items():
        panel = panel.override_by_name(column, [set_to("unit", unit)])
    return panel


def set_to(option: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=option, value=value)
