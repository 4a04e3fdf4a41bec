"""A dashboard shows its empty states, and no error, where tables have no rows and variables no value."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from sluice_kit.fakes.grafana import Scope
from sluice_kit.servers.rows import now

from . import explain
from .frames import asked, by_title, queries, run, shown

# They have a row for each stage or rollup, whether or not it ran.
ALWAYS = {"Freshness", "Lag of each stage, now", "Rollups"}


def without_choice(board: dict[str, Any], scope: Scope) -> Scope:
    """Grafana sends nothing for a variable without values, and All where a variable has it."""
    chosen = {variable["name"]: variable["allValue"] if variable["includeAll"] else "" for variable in asked(board)}
    return replace(scope, variables={**scope.variables, **chosen})


def test_no_rows_are_empty_states(board: dict[str, Any], bare: tuple[Client, Client], scope: Scope) -> None:
    unset = without_choice(board, scope)
    for panel in shown(board):
        found = [row for query in queries(panel) for row in run(bare[1], query["rawSql"], unset)[1]]
        assert found == [] or panel["title"] in ALWAYS, panel["title"]
    for query in (*asked(board), *(mark["target"] for mark in board["annotations"]["list"])):
        assert run(bare[1], query.get("rawSql") or query["query"]["rawSql"], unset)[1] == []


@pytest.mark.parametrize("value", ["", "{}"])
def test_no_query_fails_without_a_choice(board: dict[str, Any], reader: Client, scope: Scope, value: str) -> None:
    """Nothing is chosen of one value, and of several."""
    chosen = dict.fromkeys((variable["name"] for variable in asked(board)), value)
    unset = replace(scope, variables={**scope.variables, **chosen})
    for _, sql in explain.queries(board):
        run(reader, sql, unset)


def test_a_container_without_metrics_has_no_cpu(
    boards: dict[str, Any], bare: tuple[Client, Client], scope: Scope
) -> None:
    writer, reader = bare
    row = ["cart", "cart-0", "node-1", now(writer) - timedelta(seconds=20), 10, 100, 100]
    columns = ["service", "instance", "host", "window", "window_s", "requests", "version"]
    writer.insert("container_latency", [row], columns)
    (query,) = queries(by_title(boards, "CPU: "))
    assert run(reader, query["rawSql"], scope)[1] == []
    assert run(reader, "SELECT count() FROM v_container_latency", scope)[1] == [(1,)]
    writer.command("TRUNCATE TABLE container_latency")
