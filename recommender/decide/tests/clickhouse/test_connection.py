"""Which URLs name a ClickHouse, and what is said of one that does not let the decider in."""

import json
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from clickhouse_connect.driver.exceptions import OperationalError
from urllib3 import HTTPResponse

from sluice.clickhouse.connection import ClickHouse, NotLetInError, UrlError, connection
from sluice.clickhouse.native import Arrays
from sluice.clickhouse.table import Table
from sluice_kit.servers import clickhouse

WANTED = Table("wanted", ("name String",), [("a",)])


@pytest.mark.parametrize("url", ["http://127.0.0.1:8123", "https://u:p@db.example", "http://[::1]:8123/"])
def test_legal_urls(url: str) -> None:
    ClickHouse(url, "default")


@pytest.mark.parametrize("url", ["", "db.example:8123", "127.0.0.1:8123", "http://:8123", "http://db:port", "tcp://db"])
def test_what_names_no_host_is_refused_and_does_not_become_this_machine(url: str) -> None:
    with pytest.raises(UrlError, match=r"SLUICE_CLICKHOUSE is not legal; legal: http\[s\]://"):
        ClickHouse(url, "default")


def test_a_file_of_authorities_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "gone.pem", "No such file"), (Path(__file__), "holds no certificate")):
        with pytest.raises(UrlError, match=f"read SLUICE_CLICKHOUSE_CA={path}: {why}"):
            connection({"SLUICE_CLICKHOUSE_CA": str(path)}, lambda: None)


def test_a_port_without_tls_is_told() -> None:
    """Of certificates: tests/soak/test_secure_programs.py. The engine itself is not asked: a client that speaks TLS to
    its plain port and leaves ends the whole engine now and then (docs/limitations/operating.md)."""
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as plain:
        Thread(target=plain.serve_forever, daemon=True).start()
        secure = ClickHouse(f"https://127.0.0.1:{plain.server_port}", clickhouse.WRITER, clickhouse.PASSWORD)
        with pytest.raises(NotLetInError, match=r"TLS with 127.0.0.1:\d+ fails, SLUICE_CLICKHOUSE_CA is not set: "):
            secure.columns("SELECT 1", {})
        plain.shutdown()


class _Answers:
    """A client with one answer to every query, as clickhouse_connect gives it."""

    result_columns: tuple[list[int], ...] = ()
    row_count = 0

    def __init__(self, summary: dict[str, str], body: BytesIO | None = None) -> None:
        self.summary, self.body = summary, body or BytesIO()

    def query(self, sql: str, parameters: object) -> "_Answers":
        return self

    def raw_stream(self, sql: str, **_: object) -> HTTPResponse:
        return HTTPResponse(self.body, {"X-ClickHouse-Summary": json.dumps(self.summary)}, preload_content=False)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("summary", [{"result_rows": "0"}, {}])
def test_no_rows_are_an_answer(monkeypatch: pytest.MonkeyPatch, summary: dict[str, str]) -> None:
    there = ClickHouse("http://127.0.0.1:1", "default")
    monkeypatch.setattr(there, "connect", lambda: _Answers(summary))
    assert there.columns("SELECT 1 WHERE 0", {}) == []
    assert there.arrays("SELECT 1 WHERE 0", {}, WANTED) == []


def test_rows_that_do_not_come_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a server answers whose disk is full."""
    there = ClickHouse("http://127.0.0.1:1", "default")
    monkeypatch.setattr(there, "connect", lambda: _Answers({"result_rows": "10"}))
    with pytest.raises(OperationalError, match="answered with nothing: is its disk full"):
        there.columns("SELECT 1", {})
    with pytest.raises(OperationalError, match="answered with nothing: is its disk full"):
        there.arrays("SELECT 1", {}, WANTED)


def test_an_answer_that_is_cut_off_is_the_databases_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cut(BytesIO):
        def read(self, *_: object) -> bytes:
            raise ConnectionResetError

    there = ClickHouse("http://127.0.0.1:1", "default")
    monkeypatch.setattr(there, "connect", lambda: _Answers({}, Cut()))
    with pytest.raises(OperationalError, match="its answer was cut off"):
        there.arrays("SELECT 1", {}, WANTED)


@pytest.mark.integration
def test_arrays_of_rows_and_of_none(engine: clickhouse.ClickHouse) -> None:
    there = ClickHouse(engine.url, clickhouse.WRITER, clickhouse.PASSWORD, database="system")
    sql = "SELECT toUInt32(number), [toUInt64(7)] FROM numbers({n:UInt8})"
    numbers, sevens = there.arrays(sql, {"n": 2}, WANTED)
    assert isinstance(sevens, Arrays)
    assert (numbers.tolist(), sevens.lengths.tolist(), sevens.values.tolist()) == ([0, 1], [1, 1], [7, 7])
    assert not any(len(column) for column in there.arrays("SELECT number FROM numbers(9) WHERE number > 9", {}, WANTED))


@pytest.mark.integration
def test_a_name_is_resolved_again_after_a_failure(
    engine: clickhouse.ClickHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the address of a service changes: nothing listens at the former one."""
    resolve, address = socket.getaddrinfo, "127.0.0.9"

    def resolved(host: Any, *rest: Any, **more: Any) -> Any:
        return resolve(address if host == "clickhouse.test" else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    url = f"http://clickhouse.test:{engine.http_port}"
    there = ClickHouse(url, clickhouse.WRITER, clickhouse.PASSWORD, database="system")
    with pytest.raises(Exception, match="clickhouse"):
        there.columns("SELECT 1", {})
    address = "127.0.0.1"
    assert there.columns("SELECT 1", {}) == [[1]]


@pytest.mark.integration
def test_what_keeps_it_out_is_told_by_the_settings_name(engine: clickhouse.ClickHouse, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("wrong\n")
    told = {"SLUICE_CLICKHOUSE": engine.url, "SLUICE_CLICKHOUSE_READER": clickhouse.WRITER}
    told |= {"SLUICE_CLICKHOUSE_READER_PASSWORD_FILE": str(password), "SLUICE_CLICKHOUSE_DATABASE": "system"}
    with pytest.raises(NotLetInError, match="refuses SLUICE_CLICKHOUSE_READER=sluice_writer or SLUICE_CLICKHOUSE_READ"):
        connection(told, lambda: None).columns("SELECT 1", {})
    password.write_text(f"{clickhouse.PASSWORD}\n")
    dead = {"SLUICE_CLICKHOUSE": f"http://127.0.0.1:1,{engine.url}"}
    right = connection(told | dead, lambda: None)
    with pytest.raises(Exception, match="refused"):
        right.columns("SELECT 1", {})
    assert right.columns("SELECT currentDatabase(), count() FROM one", {}) == [["system"], [1]]
