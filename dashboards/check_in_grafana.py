"""Runs every query of the dashboards through a real Grafana, and fails on each error that a panel would show.

It needs a Grafana with the provisioning of this folder, such as Compose's (deploy/compose, compose.observability.yaml).
It never ran against one: no registry that the tests use ships Grafana. The tests have a server that answers in the
forms of Grafana's HTTP API: /api/datasources, /api/dashboards/uid/UID and /api/ds/query.
"""

import json
import sys
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import requests

from sluice_kit.fakes.grafana import Scope, interpolate

FOLDER = Path(__file__).parent / "json"
TIMEOUT_S = 60
POINTS = 1000  # maxDataPoints: the pixels of a panel
ALL = "$__all"


class Grafana:
    """One Grafana. Requests raise requests.RequestException, also for an answer that is not JSON.

    Like a dashboard's variable without a value, it takes the first data source of a type by name."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url = url.rstrip("/")
        self._session = requests.Session()
        self._session.auth = (user, password)
        sources = sorted(self.get("/api/datasources"), key=lambda source: source["name"].lower(), reverse=True)
        self._uids = {source["type"]: source["uid"] for source in sources}

    def get(self, path: str) -> Any:
        """The JSON at this path."""
        answer = self._session.get(self._url + path, timeout=TIMEOUT_S)
        answer.raise_for_status()
        return answer.json()

    def query(self, targets: list[dict[str, Any]], scope: Scope) -> dict[str, Any]:
        """The result of each target by its refId, all with the same times; `error` in it is what the panel shows.

        A query that fails turns the status to 4xx or 5xx; the results are in the body all the same."""
        interval = {"intervalMs": scope.interval_ms, "maxDataPoints": POINTS}
        queries = [{**target, **interval, "datasource": self._source(target)} for target in targets]
        body = {"from": str(scope.from_ms), "to": str(scope.until_ms), "queries": queries}
        answer = self._session.post(f"{self._url}/api/ds/query", json=body, timeout=TIMEOUT_S)
        found = answer.json()
        if "results" not in found:
            message = found.get("message", f"status {answer.status_code}")
            return {target["refId"]: {"error": message} for target in targets}
        return dict(found["results"])

    def _source(self, target: dict[str, Any]) -> dict[str, str]:
        kind = target["datasource"]["type"]
        if kind not in self._uids:
            raise LookupError(f"Grafana has no data source of the type {kind}")
        return {"type": kind, "uid": self._uids[kind]}


def faults(grafana: Grafana, uid: str, scope: Scope) -> list[str]:
    """The errors of a dashboard's variables, panels and annotations."""
    try:
        board = grafana.get(f"/api/dashboards/uid/{uid}")["dashboard"]
    except requests.HTTPError as error:
        if error.response.status_code == HTTPStatus.NOT_FOUND:
            return [f"{uid}: Grafana did not load it"]
        raise
    values: dict[str, str] = {}
    scope = Scope(scope.from_ms, scope.until_ms, scope.interval_ms, values)
    found: list[str] = []
    for variable in board["templating"]["list"]:
        values[variable["name"]] = _value(grafana, variable, scope, found)
    panels = [panel for item in board["panels"] for panel in item.get("panels") or [item]]
    shown = [(panel["title"], panel.get("targets", [])) for panel in panels if panel["type"] != "row"]
    # Grafana adds its own annotations, which have no SQL.
    marks = [mark for mark in board["annotations"]["list"] if "rawSql" in mark.get("target", {})]
    shown += [(mark["name"], [{"refId": "A", **mark["target"]}]) for mark in marks]
    for title, targets in shown:
        if targets:
            found += _errors(grafana, title, targets, scope)
    return [f"{uid}: {fault}" for fault in found]


def _errors(grafana: Grafana, title: str, targets: list[dict[str, Any]], scope: Scope) -> list[str]:
    filled = [
        {key: interpolate(value, scope) if key in ("rawSql", "expr") else value for key, value in target.items()}
        for target in targets
    ]
    results = grafana.query(filled, scope)
    errors = {target["refId"]: results.get(target["refId"], {"error": "no result"}).get("error") for target in targets}
    return [f"{title} {ref}: {error}" for ref, error in errors.items() if error]


def _value(grafana: Grafana, variable: dict[str, Any], scope: Scope, found: list[str]) -> str:
    """The first value that the variable offers; All where it has it."""
    current, query = (variable.get("current") or {}).get("value"), variable.get("query")
    if variable.get("includeAll") or current == ALL:
        return str(variable.get("allValue") or ".*")
    if not (isinstance(query, dict) and "rawSql" in query):
        return str(current or (query if isinstance(query, str) else ".*"))
    target = {"refId": "A", "datasource": variable["datasource"], "format": 1, "queryType": "table"}
    target["rawSql"] = interpolate(query["rawSql"], scope)
    result = grafana.query([target], scope).get("A", {"error": "no result"})
    values = [column for frame in result.get("frames") or [] for column in frame["data"]["values"] if column]
    if not values:
        found.append(f"variable {variable['name']}: {result.get('error', 'no value')}")
        return ""
    return str(values[0][0])


@click.command()
@click.option("--url", default="http://127.0.0.1:3000", show_default=True, help="Grafana's address.")
@click.option("--user", default="admin", show_default=True)
@click.option("--password-file", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--minutes", default=60, show_default=True, type=click.IntRange(1), help="Time range, up to now.")
def cli(url: str, user: str, password_file: Path, minutes: int) -> None:
    """Exit 1 with the errors if a dashboard is not loaded, or a query of one fails; data may be missing."""
    until = int(datetime.now(UTC).timestamp() * 1000)
    scope = Scope(until - minutes * 60_000, until, max(minutes * 60, 1000), {})
    wanted = sorted(json.loads(file.read_text())["uid"] for file in FOLDER.glob("*.json"))
    try:
        grafana = Grafana(url, user, password_file.read_text().strip())
        found = [fault for uid in wanted for fault in faults(grafana, uid, scope)]
    except (requests.RequestException, LookupError) as error:
        raise click.ClickException(str(error)) from None
    print("\n".join(found) or f"{len(wanted)} dashboards, no error")
    sys.exit(bool(found))


if __name__ == "__main__":
    cli()
