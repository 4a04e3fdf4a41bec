"""Runs a query of a dashboard as Grafana would, and says what is wrong with the answer for the panel that shows it."""

from collections.abc import Iterator
from datetime import datetime
from numbers import Number
from typing import Any

from clickhouse_connect.driver.client import Client

from sluice_kit.fakes.grafana import Scope, expand

TIME_SERIES, TABLE = 0, 1


def shown(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Panels of a dashboard, those in collapsed rows too."""
    return [panel for item in board["panels"] for panel in (item["panels"] if item["type"] == "row" else [item])]


def queries(panel: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Queries of ClickHouse."""
    for query in panel.get("targets", []):
        if "rawSql" in query:
            yield query


def asked(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Variables whose values come from ClickHouse."""
    return [each for each in board["templating"]["list"] if each["type"] == "query" and "rawSql" in each["query"]]


def by_title(boards: dict[str, Any], title: str) -> dict[str, Any]:
    """The panel whose title begins so; one on several dashboards is the same on each."""
    found = [panel for board in boards.values() for panel in shown(board) if panel["title"].startswith(title)]
    assert len({panel["title"] for panel in found}) == 1, title
    return found[0]


def needed(panel: dict[str, Any]) -> set[str]:
    """Columns that a panel names: in its overrides and in the series of a chart of points."""
    names = {
        override["matcher"]["options"]
        for override in panel.get("fieldConfig", {"overrides": []})["overrides"]
        if override["matcher"]["id"] == "byName"
    }
    for series in panel.get("options", {}).get("series", []):
        names |= {series[axis]["matcher"]["options"] for axis in ("x", "y")}
    return names


def run(client: Client, sql: str, scope: Scope) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows."""
    result = client.query(expand(sql, scope))
    return list(result.column_names), [tuple(row) for row in result.result_rows]


def faults(client: Client, panel: dict[str, Any], scope: Scope) -> list[str]:
    """What would keep the panel from showing something; nothing if all is well."""
    found: list[str] = []
    seen: set[str] = set()
    for query in queries(panel):
        label = f"{panel['title']} {query['refId']}"
        try:
            columns, rows = run(client, query["rawSql"], scope)
        except Exception as error:  # of any kind: this is what the check is for
            found.append(f"{label}: {error}")
            continue
        seen |= set(columns)
        if not rows:
            found.append(f"{label}: no rows")
        elif query["format"] == TIME_SERIES:
            found += [f"{label}: {fault}" for fault in _time_series_faults(columns, rows)]
        if all(all(value is None for value in row) for row in rows) and rows:
            found.append(f"{label}: nothing but NULL")
    missing = needed(panel) - seen
    if missing:
        found.append(f"{panel['title']}: no column {', '.join(sorted(missing))}")
    return found


def _time_series_faults(columns: list[str], rows: list[tuple[Any, ...]]) -> list[str]:
    times = [row[0] for row in rows]
    if columns[0] != "time" or not all(isinstance(time, datetime) for time in times):
        return [f"the first column must be a time named time, not {columns[0]}"]
    found = [] if times == sorted(times) else ["times do not ascend"]
    for nth, column in enumerate(columns[1:], start=1):
        values = [row[nth] for row in rows if row[nth] is not None]
        if not values:
            found.append(f"column {column} is always NULL")
        elif not all(isinstance(value, Number | str) for value in values):
            found.append(f"column {column} is neither number nor text")
    if not any(isinstance(row[nth], Number) for row in rows for nth in range(1, len(columns))):
        found.append("no column of numbers")
    return found
