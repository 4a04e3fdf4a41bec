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
from sluice_kit.hostile import TEXTS

from .explain import faults as refusals
from .frames import asked, by_title, faults, needed, queries, run, shown

OUTCOMES = Path(__file__).resolve().parents[2] / (
    "streaming-jobs/functions/src/main/java/dev/sluice/accounting/Outcome.java"
)


def test_every_panel_shows_something(board: dict[str, Any], reader: Client, scope: Scope) -> None:
    found = [fault for panel in shown(board) for fault in faults(reader, panel, scope)]
    assert found == []


def test_variables_offer_every_pool(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    variables = {variable["name"]: variable for variable in asked(boards["sluice-pool"])}
    offered = {name: run(reader, variable["query"]["rawSql"], scope)[1] for name, variable in variables.items()}
    assert offered == {"service": [("cart",), ("catalogue",)], "side": [("server",)], "peer": [("-",)]}
    client_pool = Scope(scope.from_ms, scope.until_ms, 5000, {"service": "catalogue", "side": "client"})
    assert run(reader, variables["peer"]["query"]["rawSql"], client_pool)[1] == [("catalogue-db",)]


@pytest.mark.parametrize(
    ("uid", "name", "values"),
    [
        ("sluice", "services", ["cart", "catalogue"]),
        ("sluice-critical-paths", "roots", ["frontend"]),
        ("sluice-call-graph", "services", ["cart", "cart-db", "catalogue", "catalogue-db", "frontend"]),
        ("sluice-containers", "services", ["cart"]),
        ("sluice-subsets", "upstreams", ["frontend"]),
        ("sluice-tuning", "sessions", ["shop"]),
    ],
)
def test_variables_of_many_values(
    boards: dict[str, Any], reader: Client, scope: Scope, uid: str, name: str, values: list[str]
) -> None:
    (variable,) = asked(boards[uid])
    assert [variable[key] for key in ("name", "multi", "includeAll", "allValue")] == [name, True, True, "*"]
    assert [row[0] for row in run(reader, variable["query"]["rawSql"], scope)[1]] == values
    asking = [
        query["rawSql"] for panel in shown(boards[uid]) for query in queries(panel) if f"${{{name}:" in str(query)
    ]
    assert asking
    for sql in asking:
        several = with_value(scope, **{name: f"{{x,{','.join(values)}}}"})
        assert without_age(*run(reader, sql, several)) == without_age(*run(reader, sql, scope))
        for none in ("x", "{x,y}"):
            assert run(reader, sql, with_value(scope, **{name: none}))[1] == []


def without_age(columns: list[str], rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows without the column that grows between two queries."""
    return [tuple(value for name, value in zip(columns, row, strict=True) if name != "age_s") for row in rows]


def test_every_panel_of_a_client_pool(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    chosen = {"service": "catalogue", "side": "client", "peer": "catalogue-db", "threshold_ms": "11.5"}
    other = Scope(scope.from_ms, scope.until_ms, 1000, chosen)
    missing = ("Queue: ", "CPU: ", "Critical paths, with traces")  # the shop has none of this service
    panels = [panel for panel in shown(boards["sluice-pool"]) if not panel["title"].startswith(missing)]
    found = [fault for panel in panels for fault in faults(reader, panel, other)]
    # It has no bounds and no unguarded target in the rows; everything else is there.
    assert all("is always NULL" in fault for fault in found), found


def test_annotations_run(board: dict[str, Any], reader: Client, scope: Scope) -> None:
    for annotation in board["annotations"]["list"]:
        columns, rows = run(reader, annotation["target"]["rawSql"], scope)
        assert columns == (["time", "text", "tags"] if rows else [])


@pytest.mark.parametrize("uid", ["sluice", "sluice-pool", "sluice-critical-paths", "sluice-containers"])
def test_annotations_mark_what_changed(boards: dict[str, Any], reader: Client, scope: Scope, uid: str) -> None:
    marks = {mark["name"]: mark["target"]["rawSql"] for mark in boards[uid]["annotations"]["list"]}
    found = {name: [row[1:] for row in run(reader, sql, scope)[1]] for name, sql in marks.items()}
    assert found == {
        "Actuations": [("cart server: APPLIED 64 to 6 ", "cart.threads")],
        "Reverts": [],
        "Scaling": [("cart: CPU limit 2", "scaling")],
        "Releases": [("cart: version 1.4", "release")],
        "Pauses": [("cart server: paused by ada: a drill", "pause")],
    }


def test_goodput_curve_falls_above_4(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop's callers see 20 ms up to 4 in flight, 300 ms above: goodput within 250 ms is 10/s a level, then 0."""
    panel = by_title(boards, "Goodput curve")
    columns, rows = run(reader, panel["targets"][0]["rawSql"], scope)
    points = {row[columns.index("concurrency")]: row[columns.index("goodput_per_s")] for row in rows}
    assert points == {level: pytest.approx(10 * level if level <= 4 else 0) for level in range(1, 9)}
    assert {row[columns.index("latency_source")] for row in rows} == {"caller"}


def test_the_newest_belief_of_the_time_range(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """cart's newest belief has five sizes, and one of 20 min ago has one. An hour later both are too old."""
    sql = by_title(boards, "Goodput curve")["targets"][1]["rawSql"]
    columns, rows = run(reader, sql, scope)
    assert columns[:4] == ["size", "believed_per_s", "lower_per_s", "upper_per_s"]
    assert [row[:4] for row in rows] == [
        (1, 10, 9, 11),
        (2, 20, 18, 22),
        (4, 40, 35, 45),
        (8, 60, 50, 70),
        (16, 55, 40, 80),
    ]
    then = replace(scope, from_ms=scope.from_ms - 600_000, until_ms=scope.until_ms - 600_000)
    assert [row[:4] for row in run(reader, sql, then)[1]] == [(1, 10, 5, 20)]
    later = replace(scope, from_ms=scope.from_ms + 3_600_000, until_ms=scope.until_ms + 3_600_000)
    assert run(reader, sql, later)[1] == []


def test_predicted_and_measured_latency_are_of_the_same_requests(
    boards: dict[str, Any], reader: Client, scope: Scope
) -> None:
    """Own times are 12 ms. Plans predict 10 ms in the first six windows and 16 ms in the others: 13 ms in the mean."""
    _, rows = run(reader, by_title(boards, "Predicted and measured latency of pairs")["targets"][0]["rawSql"], scope)
    near = pytest.approx(12, rel=0.006)  # half a bucket of the histogram
    assert [row[:6] for row in rows] == [("default", "frontend", "cart", 0.95, 13, near)]
    assert rows[0][6:] == (pytest.approx(12 / 13, rel=0.006), 1200)
    _, rows = run(reader, by_title(boards, "Predicted and measured latency over time")["targets"][0]["rawSql"], scope)
    assert [row[1:] for row in rows] == [("frontend to cart", near, 10)] * 6 + [("frontend to cart", near, 16)] * 6


def test_shares_of_calls_that_subsets_plan_and_containers_get(
    boards: dict[str, Any], reader: Client, scope: Scope
) -> None:
    """The second subset gives cart-1 a third of the calls, which all were cart-0's. cart-0 still serves all."""
    _, rows = run(reader, by_title(boards, "Calls moved by new subsets")["targets"][0]["rawSql"], scope)
    assert [row[1:] for row in rows] == [("frontend to cart", pytest.approx(1 / 3))]
    _, rows = run(reader, by_title(boards, "Planned and observed shares")["targets"][0]["rawSql"], scope)
    shares = {row[:2]: row[2:] for row in rows}
    assert shares == {
        ("cart", "cart-0"): pytest.approx((2 / 3, 1, 1 / 3)),
        ("cart", "cart-1"): pytest.approx((1 / 3, 0, -1 / 3)),
    }


def test_callers_that_do_not_call_as_their_subsets_say(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """frontend-0 sends all calls to cart-0; its newest subset gives cart-1 a third."""
    _, rows = run(reader, by_title(boards, "Callers that follow their subsets")["targets"][0]["rawSql"], scope)
    assert rows == [("frontend", "cart", 0, 1, 0, 1.0)]
    columns, rows = run(reader, by_title(boards, "Calls beside the plan")["targets"][0]["rawSql"], scope)
    (row,) = rows
    found = dict(zip(columns, row, strict=True))
    assert (found["upstream"], found["instance"], found["downstream"]) == ("frontend", "frontend-0", "cart")
    assert found["beside_plan"] == pytest.approx(1 / 3)


def test_calls_lost_are_those_that_the_best_size_would_complete(
    boards: dict[str, Any], reader: Client, scope: Scope
) -> None:
    """Of 30 calls per second, 15 are in time. The best size completes up to 40: it loses none of the 30."""
    columns, rows = run(reader, by_title(boards, "Pools with most calls lost")["targets"][0]["rawSql"], scope)
    (cart,) = [dict(zip(columns, row, strict=True)) for row in rows]
    assert (cart["service"], cart["lost_per_s"], cart["late_per_s"]) == ("cart", 15, 15)


def test_calls_in_time_by_service(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """A point a minute; half of cart's calls are in time, and catalogue's server pool has no decision."""
    _, rows = run(reader, by_title(boards, "Calls in time")["targets"][0]["rawSql"], scope)
    assert 1 <= len(rows) <= 3
    assert {row[1:] for row in rows} == {("cart", 0.5)}


def test_every_outcome_has_a_series_and_a_meaning(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop's 10 s: 4000 spans accepted, 1000 cut, 3 refused, 50 repeated, and a message that was not decoded."""
    columns, rows = run(reader, by_title(boards, "Outcome of every span")["targets"][0]["rawSql"], scope)
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    shares = {row["cause"]: row["share"] for row in found if row["job"] == "concurrency"}
    expected = {"accepted": 4000, "accepted_cut": 1000, "repeated_message": 50, "ends_before_start": 3}
    assert shares == {cause: pytest.approx(n / 5053) for cause, n in expected.items()} | {"malformed_message": 0}
    assert all(row["meaning"] for row in found)

    _, rows = run(
        reader, by_title(boards, "Bad, late, cut and repeated spans, by job and cause")["targets"][0]["rawSql"], scope
    )
    assert {row[1:] for row in rows} == {
        (job, cause, n / 10)
        for job in ("concurrency", "call_graph")
        for cause, n in (("accepted_cut", 1000), ("repeated_message", 50), ("ends_before_start", 3))
    } | {(job, "malformed_message", 0) for job in ("concurrency", "call_graph")}

    _, rows = run(reader, by_title(boards, "Messages that a job could not decode")["targets"][0]["rawSql"], scope)
    assert {row[2:] for row in rows} == {("malformed_message", 0.1)}
    _, rows = run(reader, by_title(boards, "Share of spans lost")["targets"][0]["rawSql"], scope)
    assert rows
    assert [row[2] for row in rows] == [pytest.approx(3 / 5053)] * len(rows)


def test_the_jobs_outcomes_are_those_with_a_meaning() -> None:
    text = OUTCOMES.read_text()
    labels = set(re.findall(r'^  [A-Z_]+\("(\w+)"\)', text, re.MULTILINE))
    assert len(labels) >= 9
    assert labels <= set(MEANINGS)


def test_what_was_lost_behind_the_topic(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """The shop has two rows that a store refused, one of them twice, and a gap of 40 records."""
    _, rows = run(reader, by_title(boards, "Rows that a store refused")["targets"][0]["rawSql"], scope)
    assert [row[:4] + row[5:] for row in rows] == [
        ("clickhouse", "windows", "not_encodable", 2, "cart|client|db|cart-0", "no place for -2")
    ]
    _, rows = run(reader, by_title(boards, "Records deleted before a job read them")["targets"][0]["rawSql"], scope)
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
    boards: dict[str, Any], reader: Client, scope: Scope, typed: str
) -> None:
    asking = [
        query["rawSql"]
        for panel in shown(boards["sluice-pool"])
        for query in queries(panel)
        if "threshold_ms:" in query["rawSql"]
    ]
    assert len(asking) == 2
    for sql in asking:
        with pytest.raises(DatabaseError, match=r"CANNOT_PARSE|ATTEMPT_TO_READ_AFTER_EOF"):
            run(reader, sql, with_value(scope, threshold_ms=typed))


@pytest.mark.parametrize("typed", ["250", "2.5e2", "250.0", "0250"])
def test_a_threshold_may_be_typed_in_any_way_that_is_a_number(
    boards: dict[str, Any], reader: Client, scope: Scope, typed: str
) -> None:
    panel = by_title(boards, "Goodput curve")
    sql = panel["targets"][0]["rawSql"]
    assert run(reader, sql, with_value(scope, threshold_ms=typed)) == run(reader, sql, scope)


@pytest.mark.parametrize(
    "name",
    [
        "a'b",
        'a"b',
        "a\\",
        "\\' OR 1=1 --",
        "') OR 1=1 --",
        "%27",
        "a\tb\nü-工",
        "${__from}",
        "🧵",
        *filter(None, TEXTS),
    ],
    ids=lambda name: ascii(name)[:30],
)
def test_a_name_stays_a_name(boards: dict[str, Any], reader: Client, scope: Scope, name: str) -> None:
    hostile = with_value(scope, service=name, side=name, peer=name)
    assert run(reader, f"SELECT {text('service')}", hostile)[1] == [(name,)]
    sizes = by_title(boards, "Recommended and current size")
    assert run(reader, sizes["targets"][0]["rawSql"], scope)[1]
    assert run(reader, sizes["targets"][0]["rawSql"], with_value(scope, service=name))[1] == []


def test_in_flight_shows_the_highest_fine_window(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    """cart's concurrency goes 1 to 8, a value per 100 ms: 5 s have at most six times 1 to 8, and 7 and 8.

    The first and the last 5 s have as many values as the clock leaves them: of 10, the mean may be 5.1.
    """
    panel = by_title(boards, "In flight: ")
    columns, rows = run(reader, panel["targets"][0]["rawSql"], scope)
    assert columns == ["time", "mean", "highest"]
    assert max(row[2] for row in rows) == pytest.approx(8)
    assert max(row[1] for row in rows[1:-1]) <= (6 * 36 + 15) / 50 + 1e-9


@pytest.mark.parametrize(("hours", "points"), [(1, 100), (12, 10), (24 * 7, 2)])
def test_each_time_range_has_a_rollup(
    boards: dict[str, Any], reader: Client, scope: Scope, hours: int, points: int
) -> None:
    """Two minutes of rows, by the second, by 10 s and by the minute."""
    wide = replace(scope, from_ms=scope.until_ms - hours * 3_600_000, interval_ms=1000)
    _, rows = run(reader, by_title(boards, "In flight: ")["targets"][0]["rawSql"], wide)
    assert max(row[2] for row in rows) == pytest.approx(8)
    assert points <= len(rows) <= 1.5 * points + 1
    _, rows = run(reader, by_title(boards, "Goodput within")["targets"][0]["rawSql"], wide)
    assert points <= len(rows) <= 1.5 * points + 1
    assert all(0 < goodput < throughput for _, goodput, throughput in rows[1:-1])


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
def test_a_broken_query_is_found(boards: dict[str, Any], reader: Client, scope: Scope, name: str) -> None:
    old, new, expected = BREAKS[name]
    panel = copy.deepcopy(shown(boards["sluice-pool"])[0])
    query = panel["targets"][0]
    assert old in query["rawSql"]
    query["rawSql"] = query["rawSql"].replace(old, new)
    found = faults(reader, panel, scope)
    assert any(expected in fault for fault in found), found


def test_panels_name_the_columns_that_they_need(boards: dict[str, Any]) -> None:
    """Without names the check above would have nothing to look for."""
    names = {panel["title"]: needed(panel) for board in boards.values() for panel in shown(board)}
    sizes = {"recommended", "current", "unguarded", "lower", "upper", "smallest_legal", "largest_legal"}
    assert sizes in names.values()
    seen, believed = (
        {"concurrency", "goodput_per_s", "throughput_per_s"},
        {"believed_per_s", "lower_per_s", "upper_per_s"},
    )
    assert {*seen, "size", *believed} in names.values()
    assert names["Calls between services"] >= {"rate_per_s", "error_ratio", "p99_ms"}
    assert names["States"] >= {"state", "confidence", "age_s"}


def test_a_query_that_the_engine_refuses_is_found(reader: Client) -> None:
    """As `make lint` finds it: no row is needed."""

    def board(sql: str) -> dict[str, Any]:
        return {"uid": "one", "panels": [{"title": "sides", "targets": [{"rawSql": sql}]}]}

    assert refusals(reader, board("SELECT side FROM actuations")) == []
    for sql in ("SELECT sise FROM actuations", "SELECT side FORM actuations", "SELECT $__no(side) FROM actuations"):
        (fault,) = refusals(reader, board(sql))
        assert fault.startswith("one: sides: ")
