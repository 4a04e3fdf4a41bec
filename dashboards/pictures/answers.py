"""A dashboard's variables, and what its panels' queries answer."""

import re
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client

from sluice_kit.fakes.grafana import Scope, expand

INTERVALS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
WIDTH = 1440  # pixels of a dashboard
_LABEL = re.compile(r"\$\{__field\.labels\.(\w+)\}")


@dataclass(frozen=True)
class Answer:
    """Columns and rows of a query."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def numbers(self) -> list[int]:
        """Positions of the columns that hold numbers."""
        return [
            nth
            for nth in range(len(self.columns))
            if any(isinstance(row[nth], int | float) and not isinstance(row[nth], bool) for row in self.rows)
        ]


def interval_ms(range_ms: int, columns: int) -> int:
    """Grafana's: the range over the panel's pixels, rounded up to a step of INTERVALS_S."""
    least = range_ms / 1000 / (WIDTH * columns / 24)
    return 1000 * next((step for step in INTERVALS_S if step >= least), INTERVALS_S[-1])


def variables(board: dict[str, Any], client: Client, scope: Scope, chosen: dict[str, str]) -> dict[str, str]:
    """A value for each variable: the one chosen, else All, else the dashboard's own, else the first that exists."""
    values: dict[str, str] = {}
    for variable in board["templating"]["list"]:
        name, query = variable["name"], variable.get("query")
        if name in chosen:
            values[name] = chosen[name]
        elif variable.get("includeAll"):
            values[name] = variable["allValue"]
        elif isinstance(query, dict) and "rawSql" in query:
            known = Scope(scope.from_ms, scope.until_ms, scope.interval_ms, values)
            rows = client.query(expand(query["rawSql"], known)).result_rows
            values[name] = str(rows[0][0]) if rows else ""
        else:
            current = (variable.get("current") or {}).get("value")
            values[name] = str(current or (query if isinstance(query, str) else ""))
    return values


def answers(panel: dict[str, Any], client: Client, scope: Scope) -> list[Answer]:
    """An answer for each query of ClickHouse, those without rows left out."""
    found = []
    for target in panel.get("targets", []):
        if "rawSql" in target:
            result = client.query(expand(target["rawSql"], scope))
            if result.result_rows:
                found.append(Answer(list(result.column_names), [tuple(row) for row in result.result_rows]))
    return found


def fields(panel: dict[str, Any], column: str) -> dict[str, Any]:
    """Settings of a column: the panel's defaults, with the overrides of that name."""
    defaults = panel["fieldConfig"]["defaults"]
    found = {**defaults, **{f"custom.{key}": value for key, value in defaults.get("custom", {}).items()}}
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"] == {"id": "byName", "options": column}:
            found |= {each["id"]: each["value"] for each in override["properties"]}
    return found


Series = dict[str, tuple[list[Any], list[float | None]]]


def series(panel: dict[str, Any], answer: Answer) -> Series:
    """Times and values of each line: a column of numbers, split by the columns of texts."""
    lines: Series = {}
    numbers = [nth for nth in answer.numbers() if nth > 0]
    texts = [nth for nth in range(1, len(answer.columns)) if nth not in numbers]
    for row in answer.rows:
        labels = {answer.columns[nth]: str(row[nth]) for nth in texts if row[nth] is not None}
        for nth in numbers:
            name = _name(panel, answer.columns[nth], labels, alone=len(numbers) == 1)
            times, values = lines.setdefault(name, ([], []))
            times.append(row[0])
            values.append(row[nth])
    return lines


def _name(panel: dict[str, Any], column: str, labels: dict[str, str], *, alone: bool) -> str:
    template = panel["fieldConfig"]["defaults"].get("displayName")
    if template:
        return _LABEL.sub(lambda match: labels.get(match[1], ""), template).strip()
    return " ".join([*([] if alone and labels else [column]), *labels.values()])
