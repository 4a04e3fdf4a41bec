"""The check against Grafana, with a server that answers in the documented forms of Grafana's HTTP API."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import check_in_grafana
import pytest
from click.testing import CliRunner

KIND = "grafana-clickhouse-datasource"
ROWS = {"status": 200, "frames": [{"schema": {"fields": [{"name": "x"}]}, "data": {"values": [["cart", "web"]]}}]}
NONE: dict[str, Any] = {"status": 200}  # a time series without rows has no frames
EMPTY = {"status": 200, "frames": [{"schema": {"fields": [{"name": "x"}]}, "data": {"values": [[]]}}]}
REFUSED = {"status": 400, "error": "code: 60, message: Unknown table", "errorSource": "downstream"}


def target(sql: str, ref: str = "A") -> dict[str, Any]:
    return {"refId": ref, "rawSql": sql, "datasource": {"type": KIND, "uid": "${datasource}"}}


BOARD = {
    "uid": "sluice",
    "templating": {
        "list": [
            {"name": "datasource", "type": "datasource", "query": KIND},
            {"name": "service", "query": {"rawSql": "SELECT names"}, "datasource": {"type": KIND}},
            {"name": "roots", "query": {"rawSql": "SELECT roots"}, "includeAll": True, "allValue": "*"},
        ]
    },
    "panels": [
        {"type": "row", "title": "open", "panels": []},
        {"type": "alertlist", "title": "Alerts"},
        {"type": "table", "title": "Pools", "targets": [target("SELECT '${service:percentencode}', '${roots}'")]},
        {"type": "row", "title": "closed", "panels": [{"type": "table", "title": "In it", "targets": [target("B")]}]},
    ],
    "annotations": {
        "list": [
            {"name": "Annotations & Alerts", "builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"}},
            {"name": "Grafana's own", "builtIn": 0, "target": {"type": "dashboard", "limit": 100}},
            {"name": "Marks", "target": {**target("SELECT marks"), "refId": "A"}},
        ]
    },
}


class Fake(ThreadingHTTPServer):
    """`results`: the answer to a query by its SQL, ROWS if it has none; a `message` answers the whole request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.results: dict[str, dict[str, Any]] = {}
        self.loaded = True
        self.login = True


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def do_GET(self) -> None:
        if not (self.headers.get("Authorization") and self.server.login):
            return self._answer(401, {"message": "Invalid username or password", "statusCode": 401})
        if self.path == "/api/datasources":
            names = {"other": "P2", "Mine": "P1", "zero": "P3"}
            return self._answer(200, [{"type": KIND, "uid": uid, "name": name} for name, uid in names.items()])
        assert self.path == "/api/dashboards/uid/sluice"
        if not self.server.loaded:
            return self._answer(404, {"message": "Dashboard not found", "statusCode": 404})
        return self._answer(200, {"meta": {"slug": "sluice"}, "dashboard": BOARD})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked += body["queries"]
        found = {query["refId"]: self.server.results.get(query["rawSql"], ROWS) for query in body["queries"]}
        messages = [result for result in found.values() if "message" in result]
        if messages:
            return self._answer(500, messages[0])
        return self._answer(400 if any("error" in each for each in found.values()) else 200, {"results": found})

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing: pytest's output is for its failures."""


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def check(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command; returns its exit code and its lines."""
    (tmp_path / "sluice.json").write_text('{"uid": "sluice"}')
    (tmp_path / "password").write_text("secret\n")
    monkeypatch.setattr(check_in_grafana, "FOLDER", tmp_path)
    options = ["--url", f"http://127.0.0.1:{fake.server_port}/", "--password-file", str(tmp_path / "password")]

    def run() -> tuple[int, list[str]]:
        done = CliRunner().invoke(check_in_grafana.cli, options, catch_exceptions=False)
        return done.exit_code, done.output.splitlines()

    return run


def test_all_queries_run_with_the_variables_filled_in(fake: Fake, check: Any) -> None:
    assert check() == (0, ["1 dashboards, no error"])
    assert [query["rawSql"] for query in fake.asked] == ["SELECT names", "SELECT 'cart', '*'", "B", "SELECT marks"]
    assert all(query["datasource"] == {"type": KIND, "uid": "P1"} for query in fake.asked)
    assert all((query["intervalMs"], query["maxDataPoints"]) == (3600, 1000) for query in fake.asked)


@pytest.mark.parametrize(
    ("sql", "result", "line"),
    [
        ("B", REFUSED, "sluice: In it A: code: 60, message: Unknown table"),
        ("SELECT marks", REFUSED, "sluice: Marks A: code: 60, message: Unknown table"),
        ("SELECT names", EMPTY, "sluice: variable service: no value"),
        ("SELECT names", NONE, "sluice: variable service: no value"),
        ("SELECT names", REFUSED, "sluice: variable service: code: 60, message: Unknown table"),
        ("B", {"message": "Query data error"}, "sluice: In it A: Query data error"),
    ],
)
def test_an_error_fails_the_check(fake: Fake, check: Any, sql: str, result: dict[str, Any], line: str) -> None:
    fake.results[sql] = result
    assert check() == (1, [line])


@pytest.mark.parametrize("result", [EMPTY, NONE])
def test_no_rows_are_no_error(fake: Fake, check: Any, result: dict[str, Any]) -> None:
    fake.results["B"] = result
    assert check()[0] == 0


def test_a_dashboard_that_is_not_loaded(fake: Fake, check: Any) -> None:
    fake.loaded = False
    assert check() == (1, ["sluice: Grafana did not load it"])


def test_a_wrong_password(fake: Fake, check: Any) -> None:
    fake.login = False
    code, (line,) = check()
    assert code == 1
    assert line.startswith("Error: 401 Client Error")
