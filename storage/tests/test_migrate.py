"""The migrator's command line on the real engine."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import migrate.__main__ as command
from support.clickhouse import ClickHouse


@pytest.fixture
def schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder clickhouse/ that the command line uses, to change."""
    copy = tmp_path / "clickhouse"
    shutil.copytree(command.CLICKHOUSE, copy)
    monkeypatch.setattr(command, "CLICKHOUSE", copy)
    return copy


@pytest.fixture
def fresh(engine: ClickHouse) -> Iterator[str]:
    yield "fresh"
    engine.client().command("DROP DATABASE IF EXISTS fresh SYNC")


def run(engine: ClickHouse, database: str, word: str, *more: str) -> Result:
    only = ["--only", "clickhouse"] if word == "up" else []
    words = [word, "--clickhouse", engine.writer_url, "--database", database, "--wait", "5", *only, *more]
    return CliRunner().invoke(command.cli, words)


def next_number(schema: Path) -> int:
    return max(int(file.name[:4]) for file in (schema / "migrations").glob("*.sql")) + 1


def definitions(engine: ClickHouse) -> list[tuple[str, str]]:
    query = "SELECT name, create_table_query FROM system.tables WHERE database = 'fresh' ORDER BY name"
    return [(row[0], row[1]) for row in engine.client().query(query).result_rows]


def test_up_twice(engine: ClickHouse, fresh: str) -> None:
    before = run(engine, fresh, "status").output.split()
    first = run(engine, fresh, "up")
    tables = definitions(engine)
    second = run(engine, fresh, "up")
    assert (first.exit_code, second.exit_code) == (0, 0), first.output + second.output
    assert "applied 0001_windows.sql" in first.output
    assert "nothing to apply" in second.output
    assert set(before[::2]) == {"pending"}
    lines = run(engine, fresh, "status").output.splitlines()
    assert {line.split()[0] for line in lines} == {"applied", "keeps"}
    assert definitions(engine) == tables
    recorded = engine.client(fresh).query("SELECT version, name FROM schema_migrations ORDER BY version").result_rows
    assert recorded[:2] == [(1, "windows"), (2, "call_edges")]
    assert len(recorded) == len(list((command.CLICKHOUSE / "migrations").glob("*.sql")))


def test_status_creates_nothing(engine: ClickHouse) -> None:
    assert run(engine, "unseen", "status").exit_code == 0
    assert not engine.client().query("SELECT 1 FROM system.databases WHERE name = 'unseen'").result_rows


def test_a_changed_migration_is_an_error(engine: ClickHouse, fresh: str, schema: Path) -> None:
    run(engine, fresh, "up")
    with (schema / "migrations/0002_call_edges.sql").open("a") as file:
        file.write("-- one more line\n")
    for word in ("up", "status"):
        result = run(engine, fresh, word)
        assert result.exit_code == 1
        assert "0002_call_edges.sql was changed after it was applied" in result.output


def test_a_new_migration_and_a_changed_view_are_taken_up(engine: ClickHouse, fresh: str, schema: Path) -> None:
    run(engine, fresh, "up")
    number = next_number(schema)
    (schema / f"migrations/{number:04d}_extra.sql").write_text(
        "CREATE TABLE IF NOT EXISTS extra (a UInt8) ENGINE = Log"
    )
    view = schema / "views/v_stage_lag.sql"
    view.write_text("CREATE OR REPLACE VIEW v_stage_lag AS SELECT 7 AS seven FROM extra")
    result = run(engine, fresh, "up")
    assert f"applied {number:04d}_extra.sql" in result.output
    engine.client(fresh).command("INSERT INTO extra VALUES (1)")
    assert engine.client(fresh).query("SELECT seven FROM v_stage_lag").result_rows == [(7,)]


def test_an_error_names_file_and_statement_and_can_be_repeated(engine: ClickHouse, fresh: str, schema: Path) -> None:
    number = next_number(schema)
    bad = schema / f"migrations/{number:04d}_bad.sql"
    bad.write_text("CREATE TABLE IF NOT EXISTS one (a UInt8) ENGINE = Log;\nCREATE TABEL two;\n")
    result = run(engine, fresh, "up")
    assert result.exit_code == 1
    assert f"{number:04d}_bad.sql, statement 2 (CREATE TABEL two)" in result.output
    bad.write_text("CREATE TABLE IF NOT EXISTS one (a UInt8) ENGINE = Log;\n")
    assert run(engine, fresh, "up").exit_code == 0


def kept(engine: ClickHouse) -> dict[str, int]:
    """Days, by table, as `status` says."""
    lines = [line.split() for line in run(engine, "fresh", "status").output.splitlines()]
    return {words[1]: int(words[2]) for words in lines if words[0] == "keeps"}


def test_ttl_days(engine: ClickHouse, fresh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(engine) == {}
    run(engine, fresh, "up")
    default = kept(engine)
    assert default["windows"] == 7
    assert default["windows_1m"] == 365
    assert "windows keeps 3 days" in run(engine, fresh, "up", "--ttl-days", "windows=3").output
    assert kept(engine) == default | {"windows": 3}
    assert "keeps" not in run(engine, fresh, "up", "--ttl-days", "windows=3").output
    run(engine, fresh, "up")  # without the option: stays
    assert kept(engine) == default | {"windows": 3}

    monkeypatch.setenv("SLUICE_TTL_DAYS", "windows=3 call_edges=14 windows_1s=8")
    changed = run(engine, fresh, "up").output
    assert [line for line in changed.splitlines() if "keeps" in line] == [
        "clickhouse: call_edges keeps 14 days",
        "clickhouse: windows_1s keeps 8 days",
    ]
    assert "keeps" not in run(engine, fresh, "up").output
    assert kept(engine) == default | {"windows": 3, "call_edges": 14, "windows_1s": 8}


def test_a_bad_ttl_changes_nothing(engine: ClickHouse, fresh: str) -> None:
    run(engine, fresh, "up")
    default = kept(engine)
    for word, said in (
        ("nothing=3", "change the TTL of nothing: there is no such table with a TTL in days; known: actuations, "),
        ("schema_migrations=3", "change the TTL of schema_migrations: there is no such table with a TTL in days"),
        ("windows_1s=0", "read --ttl-days 'windows_1s=0': expected TABLE=N with N from 1 to 3650 days"),
    ):
        result = run(engine, fresh, "up", "--ttl-days", "windows=3", "--ttl-days", word)
        assert result.exit_code == 1
        assert f"error: {said}" in result.output
    assert kept(engine) == default


def test_rows_older_than_the_ttl_vanish(engine: ClickHouse, fresh: str) -> None:
    """Also those that were written while the table kept them for longer."""
    run(engine, fresh, "up")
    client = engine.client(fresh)
    client.command("INSERT INTO windows_1s (start) SELECT now() - toIntervalDay(number) FROM numbers(6)")
    client.command("OPTIMIZE TABLE windows_1s FINAL")
    assert client.query("SELECT count() FROM windows_1s").result_rows == [(6,)]
    run(engine, fresh, "up", "--ttl-days", "windows_1s=3")
    client.command("OPTIMIZE TABLE windows_1s FINAL")
    assert client.query("SELECT count() FROM windows_1s").result_rows == [(3,)]


def test_a_server_that_is_not_there() -> None:
    result = CliRunner().invoke(command.cli, ["status", "--clickhouse", "http://127.0.0.1:1", "--wait", "0.3"])
    assert result.exit_code == 1
    assert "error: connect to ClickHouse at 127.0.0.1:1: not ready after 0.3 s" in result.output
    result = CliRunner().invoke(command.cli, ["status", "--clickhouse", "127.0.0.1:8123"])
    assert "expected http://[user:password@]host:port" in result.output


def test_the_audit_comes_under_ids_and_stays_whole(engine: ClickHouse, fresh: str, schema: Path) -> None:
    """Also where the migration is run again, since it was killed before it was recorded."""
    (file,) = (schema / "migrations").glob("*_reports_by_id.sql")
    (later,) = (schema / "migrations").glob("*_actuations_in_the_log.sql")
    aside = file.rename(schema / file.name)
    later.unlink()  # it adds to the table that is made here
    (schema / "views/v_actuation_history.sql").write_text(
        "CREATE OR REPLACE VIEW v_actuation_history AS SELECT 1 AS one"
    )
    assert run(engine, fresh, "up").exit_code == 0
    client = engine.client(fresh)
    names = ["service", "side", "peer", "at", "target_name", "actuator", "outcome", "instance", "detail"]
    now = datetime.now(UTC)
    rows = [["cart", "server", "", now + timedelta(seconds=n), "t", "a", "APPLIED", "i", "x"] for n in range(3)]
    for _ in range(2):
        client.insert("actuations", rows, names)
    aside.rename(file)
    for _ in range(2):
        result = run(engine, fresh, "up")
        assert result.exit_code == 0, result.output
        found = client.query("SELECT count(), uniqExact(request_id), countIf(received = at) FROM actuations FINAL")
        assert found.result_rows == [(3, 3, 3)]
        client.insert("actuations", rows, names)
        client.command(f"DELETE FROM schema_migrations WHERE version = {int(file.name[:4])}")
