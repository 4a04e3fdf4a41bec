"""What the users of the local stack's ClickHouse may not do, on the real engine, over HTTP."""

import os
from pathlib import Path

import pytest
import requests

from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse

REFUSED = "CANNOT_EXTRACT_TABLE_STRUCTURE|ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION|CANNOT_OPEN_FILE"


def answer(engine: ClickHouse, user: str, query: str, password: str = "", **parameters: str) -> str:
    headers = {"X-ClickHouse-User": user} | ({"X-ClickHouse-Key": password} if password else {})
    return requests.post(engine.url, params=parameters, data=query, headers=headers, timeout=30).text.strip()


@pytest.mark.parametrize("user", [WRITER, "default"])
@pytest.mark.parametrize("password", ["", "guessed"])
def test_only_the_password_opens(engine: ClickHouse, user: str, password: str) -> None:
    assert answer(engine, WRITER, "SELECT 1", PASSWORD) == "1"
    assert "DB::Exception" in answer(engine, user, "SELECT 1", password)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "SELECT 1 SETTINGS additional_result_filter = ''",
        "SELECT 1 SETTINGS profile = 'default'",
        "SELECT count() FROM sluice.windows",
        "SELECT * FROM system.users",
        "SELECT number FROM system.numbers LIMIT 1",
        "SYSTEM STOP LISTEN QUERIES ALL",
        "KILL QUERY WHERE 1",
        "SHOW DATABASES",
        "CREATE DATABASE taken",
        "INSERT INTO sluice.windows (service) VALUES ('x')",
    ],
)
def test_default_may_do_nothing(engine: ClickHouse, schema_once: list[str], query: str) -> None:
    assert "DB::Exception" in answer(engine, "default", query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM system.users",
        "SHOW USERS",
        "SHOW ACCESS",
        "SELECT * FROM system.processes",
        "SHOW PROCESSLIST",
        "SELECT * FROM system.grants",
        "SELECT * FROM system.server_settings",
        "SELECT * FROM system.stack_trace",
        "SELECT * FROM system.disks",
        "SELECT * FROM system.dictionaries",
        "SELECT * FROM merge('system', '^users$')",
        "SELECT * FROM secret.kept",
        "SELECT * FROM file('/etc/hostname', LineAsString)",
        "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)",
        "SELECT * FROM remote('127.0.0.1:1', sluice.windows)",
        "SELECT * FROM s3('http://127.0.0.1:1/bucket/key', 'CSV', 'x String')",
        "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
        "SELECT * FROM executable('ls', LineAsString, 'x String')",
        "INSERT INTO FUNCTION file('out.csv') SELECT 1",
        "CREATE TABLE sluice.mine (x Int8) ENGINE = Memory",
        "CREATE TEMPORARY TABLE mine (x Int8)",
        "CREATE FUNCTION mine AS x -> x",
        "KILL QUERY WHERE 1",
        "SYSTEM SHUTDOWN",
        "SYSTEM STOP LISTEN QUERIES ALL",
        "BACKUP DATABASE sluice TO File('/tmp/b')",
        "SET readonly = 0",
        "SELECT 1 SETTINGS max_execution_time = 600",
        "SELECT 1 SETTINGS profile = 'default', max_execution_time = 600",
        "SELECT 1 FORMAT Template SETTINGS format_template_resultset = '/etc/hostname'",
        "SELECT 1 AS a FORMAT Protobuf SETTINGS output_format_schema = 'mine.proto'",
    ],
)
def test_the_reader_is_refused(engine: ClickHouse, schema_once: list[str], query: str) -> None:
    engine.client().command("CREATE DATABASE IF NOT EXISTS secret")
    engine.client().command("CREATE TABLE IF NOT EXISTS secret.kept (x Int8) ENGINE = Memory")
    response = answer(engine, "sluice_reader", query)
    assert any(name in response for name in REFUSED.split("|")), response


@pytest.mark.parametrize("user", ["sluice_reader", WRITER])
@pytest.mark.parametrize("path", ["/etc/hostname", "/proc/1/environ", "/proc/self/root/etc/hostname", __file__])
def test_no_function_opens_a_file_of_the_host(engine: ClickHouse, user: str, path: str) -> None:
    """The scalar function file() asks for no grant."""
    response = answer(engine, user, f"SELECT file('{path}')", PASSWORD if user == WRITER else "")
    assert "CANNOT_OPEN_FILE" in response, response


def test_no_function_writes_a_file_of_the_host(engine: ClickHouse, tmp_path: Path) -> None:
    response = answer(engine, WRITER, f"INSERT INTO FUNCTION file('{tmp_path}/out.csv') SELECT 1", PASSWORD)
    assert "CANNOT_OPEN_FILE" in response, response
    assert not list(tmp_path.iterdir())


def test_the_engine_has_no_variable_of_who_started_it(engine: ClickHouse) -> None:
    names = [
        pair.partition("=")[0]
        for pair in answer(engine, WRITER, "SELECT file('/proc/self/environ')", PASSWORD).split("\\0")
    ]
    assert "PATH" in names
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert "PYTEST_CURRENT_TEST" not in names


@pytest.mark.parametrize("path", ["/play", "/dashboard", "/binary", "/merges", "/webterminal", "/replicas_status"])
def test_there_is_no_page_to_query_from(engine: ClickHouse, path: str) -> None:
    assert requests.get(engine.url + path, timeout=30).status_code == 404
    assert requests.get(engine.url + "/ping", timeout=30).text == "Ok.\n"
