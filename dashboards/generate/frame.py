"""One dashboard: its rows, variables, marks and links, in the form that all of Sluice's have."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLinkType,
    Panel,
    RowPanel,
    VariableModel,
)

TAG = "sluice"
# Version of the panels. Without it Grafana migrates their options as those from before 11.1.
GRAFANA = "12.2.0"


@dataclass(frozen=True)
class Row:
    """Panels below one heading. Queries of a collapsed row run when a user opens it."""

    title: str
    panels: Sequence[Builder[Panel]]
    collapsed: bool = False


@dataclass(frozen=True)
class Board:
    """A dashboard. `uid` never changes: links have it."""

    uid: str
    title: str
    description: str
    rows: Sequence[Row]
    variables: Sequence[Builder[VariableModel]]
    annotations: Sequence[dashboard.AnnotationQuery] = ()
    start: str = "now-1h"
    tags: Sequence[str] = field(default=("clickhouse",))
    links: Sequence[dashboard.DashboardLink] = ()


def build(board: Board) -> Dashboard:
    builder = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags([TAG, *board.tags])
        .timezone("utc")
        .time(board.start, "now")
        .refresh("30s")
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .variables(list(board.variables))
        .annotations(list(board.annotations))
        .link(_others())
    )
    for link in board.links:
        builder = builder.link(link)
    for row in board.rows:
        heading = dashboard.Row(row.title)
        if row.collapsed:
            for panel in row.panels:
                heading = heading.with_panel(panel)
        builder = builder.with_row(heading)
        if not row.collapsed:
            for panel in row.panels:
                builder = builder.with_panel(panel)
    result = builder.build()
    for number, item in enumerate(_all(result), start=1):
        item.id_val = number  # stable, so that links to a panel stay valid
        if isinstance(item, Panel):
            item.plugin_version = GRAFANA
    return result


def _all(result: Dashboard) -> list[Panel | RowPanel]:
    items: list[Panel | RowPanel] = []
    for item in result.panels or []:
        items += [item, *(item.panels or [])] if isinstance(item, RowPanel) else [item]
    return items


def _others() -> dashboard.DashboardLink:
    """Links to all dashboards of Sluice, which keep the time range and the variables."""
    return (
        dashboard.DashboardLink("Sluice")
        .type(DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(False)
        .keep_time(True)
        .include_vars(True)
    )


def service_link(title: str, uid: str) -> dashboard.DashboardLink:
    """A link to a dashboard of services, for the service that the variable `service` chooses."""
    url = f"/d/{uid}?var-services=${{service:percentencode}}&${{datasource:queryparam}}"
    return dashboard.DashboardLink(title).type(DashboardLinkType.LINK).icon("dashboard").url(url).keep_time(True)
