"""The dashboard `Sluice`."""

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import Dashboard, DashboardCursorSync, Panel

from generate import bad_input, calls, lost, pool, pools, stages, subsets
from generate.clickhouse import DATASOURCE, table
from generate.variables import IN_POOL, variables

UID = "sluice"
# What the panels are written for: of panels without it Grafana migrates the options, as if they were of before 11.1.
GRAFANA = "12.2.0"


def build() -> Dashboard:
    built = (
        dashboard.Dashboard("Sluice")
        .uid(UID)
        .description("Sizes of thread and connection pools, recommended and current; connection subsets; how fresh.")
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
        built = built.with_row(dashboard.Row(title))
        for panel in panels:
            built = built.with_panel(panel)
    result = built.build()
    for number, each in enumerate(result.panels or [], start=1):
        each.id_val = number  # stable, so that links to a panel stay good
        if isinstance(each, Panel):
            each.plugin_version = GRAFANA
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
