"""The dashboard `Sluice`."""

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import Dashboard, DashboardCursorSync, Panel

from generate import bad_input, calls, lost, pool, pools, stages, subsets
from generate.clickhouse import DATASOURCE, table
from generate.variables import IN_POOL, variables

UID = "sluice"
# Version of the panels. Without it Grafana migrates their options as those from before 11.1.
GRAFANA = "12.2.0"


def build() -> Dashboard:
    builder = (
        dashboard.Dashboard("Sluice")
        .uid(UID)
        .description("Recommended and current sizes of thread and connection pools; connection subsets; freshness.")
        .tags(["sluice", "clickhouse"])
        .timezone("utc")
        .time("now-15m", "now")
        .refresh("10s")
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .variables(variables())
        .annotations([actuations()])
    )
    sections = {
        "Pool: $service $side $peer": pool.panels(),
        "All pools": pools.panels(),
        "Stages": stages.panels(),
        "Bad input": bad_input.panels(),
        "Lost behind the topic": lost.panels(),
        "Call graph": calls.panels(),
        "Subsets": subsets.panels(),
    }
    for title, panels in sections.items():
        builder = builder.with_row(dashboard.Row(title))
        for panel in panels:
            builder = builder.with_panel(panel)
    result = builder.build()
    for number, item in enumerate(result.panels or [], start=1):
        item.id_val = number  # stable, so that links to a panel stay valid
        if isinstance(item, Panel):
            item.plugin_version = GRAFANA
    return result


def actuations() -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT
            at AS time,
            concat(
                toString(outcome), ': ', ifNull(toString(previous), '?'), ' to ', ifNull(toString(read_back), '?'),
                ' ', detail) AS text,
            target_name AS tags
        FROM sluice.actuations FINAL
        WHERE $__timeFilter_ms(at) AND {IN_POOL} AND outcome != 'OBSERVED'
        ORDER BY time
    """
    return (
        dashboard.AnnotationQuery()
        .name("Actuations")
        .datasource(DATASOURCE)
        .enable(True)
        .icon_color("orange")
        .target(table(sql))
    )
