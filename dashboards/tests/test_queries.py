"""Every query of the dashboard runs on the real engine, and gives its panel what it shows."""

import copy
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from support.grafana import Scope

from .frames import faults, needed, queries, run

PANELS = 12


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def test_every_panel_shows_something(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    found = [fault for panel in panels(sluice) for fault in faults(reader, panel, scope)]
    assert found == []
    assert len(panels(sluice)) >= PANELS
    assert all(list(queries(panel)) for panel in panels(sluice))


def test_variables_offer_every_pool(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    asked = {variable["name"]: variable for variable in sluice["templating"]["list"] if variable["type"] == "query"}
    offered = {name: run(reader, variable["query"]["rawSql"], scope)[1] for name, variable in asked.items()}
    assert offered == {"service": [("cart",), ("catalogue",)], "side": [("server",)], "peer": [("-",)]}
    client_pool = Scope(scope.from_ms, scope.until_ms, 5000, {"service": "catalogue", "side": "client"})
    assert run(reader, asked["peer"]["query"]["rawSql"], client_pool)[1] == [("catalogue-db",)]


def test_every_panel_of_a_client_pool(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    chosen = {"service": "catalogue", "side": "client", "peer": "catalogue-db", "threshold_ms": "11.5"}
    other = Scope(scope.from_ms, scope.until_ms, 1000, chosen)
    found = [fault for panel in panels(sluice) for fault in faults(reader, panel, other)]
    # It has no bounds and no unguarded target in the rows; everything else is there.
    assert all("is always NULL" in fault for fault in found), found


def test_annotations_mark_the_actuations(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    (annotation,) = sluice["annotations"]["list"]
    columns, rows = run(reader, annotation["target"]["rawSql"], scope)
    assert columns == ["time", "text", "tags"]
    assert [row[1:] for row in rows] == [("APPLIED: 64 to 6 ", "cart.threads")]


def test_goodput_curve_falls_above_4(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop's callers see 20 ms up to 4 in flight, 300 ms above: goodput within 250 ms is 10/s a level, then 0."""
    (panel,) = [panel for panel in panels(sluice) if panel["type"] == "xychart"]
    columns, rows = run(reader, panel["targets"][0]["rawSql"], scope)
    points = {row[columns.index("concurrency")]: row[columns.index("goodput_per_s")] for row in rows}
    assert points == {level: pytest.approx(10 * level if level <= 4 else 0) for level in range(1, 9)}
    assert {row[columns.index("latency_source")] for row in rows} == {"caller"}


BREAKS = {
    "a column that is not there": ("target AS recommended", "targets AS recommended", "targets"),
    "a column under another name": ("target AS recommended", "target AS advised", "no column recommended"),
    "a macro that is not there": ("$__timeFilter_ms(at)", "$__timeFiltre(at)", "macro $__timeFiltre is not known"),
    "a variable that is not there": ("${service:singlequote}", "${servise:singlequote}", "servise"),
    "no rows": ("WHERE ", "WHERE 1 = 2 AND ", "no rows"),
    "time that is not time": ("at AS time", "1 AS time", "first column must be a time"),
    "time that does not ascend": ("ORDER BY time", "ORDER BY time DESC", "times do not ascend"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_query_is_found(sluice: dict[str, Any], reader: Client, scope: Scope, name: str) -> None:
    old, new, expected = BREAKS[name]
    panel = copy.deepcopy(panels(sluice)[0])
    query = panel["targets"][0]
    assert old in query["rawSql"]
    query["rawSql"] = query["rawSql"].replace(old, new)
    found = faults(reader, panel, scope)
    assert any(expected in fault for fault in found), found


def test_panels_name_the_columns_that_they_need(sluice: dict[str, Any]) -> None:
    """Without names the check above would have nothing to look for."""
    by_title = {panel["title"]: needed(panel) for panel in panels(sluice)}
    assert {"recommended", "current", "unguarded", "lower", "upper"} in by_title.values()
    assert {"concurrency", "goodput_per_s", "throughput_per_s"} in by_title.values()
    assert by_title["Calls between services"] >= {"rate_per_s", "error_ratio", "p99_ms"}
    assert by_title["States"] >= {"state", "confidence", "age_s"}
