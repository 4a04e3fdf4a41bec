"""Every query of the dashboard runs on the real engine, and gives its panel what it shows."""

import copy
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from generate.bad_input import MEANINGS
from generate.variables import text
from sluice_kit.fakes.grafana import Scope

from .frames import faults, needed, queries, run

PANELS = 21
OUTCOMES = Path(__file__).resolve().parents[2] / (
    "streaming-jobs/functions/src/main/java/dev/sluice/accounting/Outcome.java"
)


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


def by_title(sluice: dict[str, Any], title: str) -> dict[str, Any]:
    (panel,) = [panel for panel in panels(sluice) if panel["title"] == title]
    return panel


def test_every_outcome_has_a_series_and_a_meaning(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop's 10 s: 4000 spans accepted, 1000 cut, 3 refused, 50 repeated, and a message that was not decoded."""
    columns, rows = run(reader, by_title(sluice, "Outcome of every span")["targets"][0]["rawSql"], scope)
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    shares = {row["cause"]: row["share"] for row in found if row["job"] == "concurrency"}
    expected = {"accepted": 4000, "accepted_cut": 1000, "repeated_message": 50, "ends_before_start": 3}
    assert shares == {cause: pytest.approx(n / 5053) for cause, n in expected.items()} | {"malformed_message": 0}
    assert all(row["meaning"] for row in found)

    _, rows = run(
        reader, by_title(sluice, "Bad, late, cut and repeated spans, by job and cause")["targets"][0]["rawSql"], scope
    )
    assert {row[1:] for row in rows} == {
        (job, cause, n / 10)
        for job in ("concurrency", "call_graph")
        for cause, n in (("accepted_cut", 1000), ("repeated_message", 50), ("ends_before_start", 3))
    } | {(job, "malformed_message", 0) for job in ("concurrency", "call_graph")}

    _, rows = run(reader, by_title(sluice, "Messages that a job could not decode")["targets"][0]["rawSql"], scope)
    assert {row[2:] for row in rows} == {("malformed_message", 0.1)}
    _, rows = run(reader, by_title(sluice, "Share of spans lost")["targets"][0]["rawSql"], scope)
    assert rows
    assert [row[2] for row in rows] == [pytest.approx(3 / 5053)] * len(rows)


def test_the_jobs_outcomes_are_those_with_a_meaning() -> None:
    text = OUTCOMES.read_text()
    labels = set(re.findall(r'^  [A-Z_]+\("(\w+)"\)', text, re.MULTILINE))
    assert len(labels) >= 9
    assert labels <= set(MEANINGS)


def test_what_was_lost_behind_the_topic(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop has two rows that a store refused, one of them twice, and a gap of 40 records."""
    _, rows = run(reader, by_title(sluice, "Rows that a store refused")["targets"][0]["rawSql"], scope)
    assert [row[:4] + row[5:] for row in rows] == [
        ("clickhouse", "windows", "not_encodable", 2, "cart|client|db|cart-0", "no place for -2")
    ]
    _, rows = run(reader, by_title(sluice, "Records deleted before a job read them")["targets"][0]["rawSql"], scope)
    assert [row[:5] for row in rows] == [("sluice-streaming", "otlp_spans", 1, 1000, 40)]


def with_value(scope: Scope, **values: str) -> Scope:
    return replace(scope, variables={**scope.variables, **values})


@pytest.mark.parametrize(
    "typed",
    [
        "250, from_ms = 0",
        "1e9) UNION ALL SELECT 1, 2, 3, 4, '5' --",
        "250 OR 1=1",
        "250'",
        "\\'",
        "\\') UNION ALL SELECT 1, 2, 3, 4, '5' --",
        "(SELECT 250)",
        "%27",
        "",
        "{250,500}",
        "fast",
    ],
)
def test_a_threshold_that_is_no_number_is_refused(
    sluice: dict[str, Any], reader: Client, scope: Scope, typed: str
) -> None:
    asking = [
        query["rawSql"] for panel in panels(sluice) for query in queries(panel) if "threshold_ms:" in query["rawSql"]
    ]
    assert len(asking) == 2
    for sql in asking:
        with pytest.raises(DatabaseError, match=r"CANNOT_PARSE|ATTEMPT_TO_READ_AFTER_EOF"):
            run(reader, sql, with_value(scope, threshold_ms=typed))


@pytest.mark.parametrize("typed", ["250", "2.5e2", "250.0", "0250"])
def test_a_threshold_may_be_typed_in_any_way_that_is_a_number(
    sluice: dict[str, Any], reader: Client, scope: Scope, typed: str
) -> None:
    (panel,) = [panel for panel in panels(sluice) if panel["type"] == "xychart"]
    sql = panel["targets"][0]["rawSql"]
    assert run(reader, sql, with_value(scope, threshold_ms=typed)) == run(reader, sql, scope)


@pytest.mark.parametrize(
    "name", ["a'b", 'a"b', "a\\", "\\' OR 1=1 --", "') OR 1=1 --", "%27", "a\tb\nü-工", "${__from}"]
)
def test_a_name_stays_a_name(sluice: dict[str, Any], reader: Client, scope: Scope, name: str) -> None:
    hostile = with_value(scope, service=name, side=name, peer=name)
    assert run(reader, f"SELECT {text('service')}", hostile)[1] == [(name,)]
    (sizes,) = [panel for panel in panels(sluice) if panel["title"].startswith("Recommended and current size")]
    assert run(reader, sizes["targets"][0]["rawSql"], scope)[1]
    assert run(reader, sizes["targets"][0]["rawSql"], with_value(scope, service=name))[1] == []


def test_minutes_show_the_highest_fine_window(sluice: dict[str, Any], reader: Client, scope: Scope) -> None:
    """cart's concurrency goes 1 to 8."""
    (panel,) = [panel for panel in panels(sluice) if panel["title"].startswith("In flight by the minute")]
    columns, rows = run(reader, panel["targets"][0]["rawSql"], scope)
    assert columns == ["time", "mean", "highest"]
    assert max(row[2] for row in rows) == pytest.approx(8)
    assert max(row[1] for row in rows) <= 4.51


BREAKS = {
    "a column that is not there": ("target AS recommended", "targets AS recommended", "targets"),
    "a column under another name": ("target AS recommended", "target AS advised", "no column recommended"),
    "a macro that is not there": ("$__timeFilter_ms(at)", "$__timeFiltre(at)", "macro $__timeFiltre is not known"),
    "a variable that is not there": ("${service:", "${servise:", "servise"),
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
    names = {panel["title"]: needed(panel) for panel in panels(sluice)}
    assert {"recommended", "current", "unguarded", "lower", "upper"} in names.values()
    assert {"concurrency", "goodput_per_s", "throughput_per_s"} in names.values()
    assert names["Calls between services"] >= {"rate_per_s", "error_ratio", "p99_ms"}
    assert names["States"] >= {"state", "confidence", "age_s"}
