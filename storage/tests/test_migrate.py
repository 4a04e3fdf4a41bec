"""The migrator's command line on the real engine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import migrate.__main__ as command
from sluice_kit.servers.clickhouse import ClickHouse


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


def migration(schema: Path, number: int, text: str) -> str:
    """Writes one to the copy; its file name."""
    folder = schema / "migrations"
    folder.mkdir(exist_ok=True)
    file = folder / f"{number:04d}_of_a_test.sql"
    file.write_text(text)
    return file.name


def definitions(engine: ClickHouse) -> list[tuple[str, str]]:
    query = "SELECT name, create_table_query FROM system.tables WHERE database = 'fresh' ORDER BY name"
    return [(row[0], row[1]) for row in engine.client().query(query).result_rows]


def test_up_twice(engine: ClickHouse, fresh: str) -> None:
    before = run(engine, fresh, "status").output.split()
    first = run(engine, fresh, "up")
    tables = definitions(engine)
    second = run(engine, fresh, "up")
    assert (first.exit_code, second.exit_code) == (0, 0), first.output + second.output
    assert "applied tables" in first.output
    assert "nothing to apply" in second.output
    assert set(before[::2]) == {"pending"}
    lines = run(engine, fresh, "status").output.splitlines()
    assert {line.split()[0] for line in lines} == {"applied", "keeps"}
    assert definitions(engine) == tables
    query = "SELECT version, name, length(checksum) FROM schema_migrations ORDER BY version LIMIT 1"
    assert engine.client(fresh).query(query).result_rows == [(0, "tables", 64)]


def test_status_creates_nothing(engine: ClickHouse) -> None:
    assert run(engine, "unseen", "status").exit_code == 0
    assert not engine.client().query("SELECT 1 FROM system.databases WHERE name = 'unseen'").result_rows


def test_a_changed_migration_is_an_error(engine: ClickHouse, fresh: str, schema: Path) -> None:
    name = migration(schema, 9998, "CREATE TABLE IF NOT EXISTS extra (a UInt8) ENGINE = Log;\n")
    run(engine, fresh, "up")
    with (schema / "migrations" / name).open("a") as file:
        file.write("-- one more line\n")
    for word in ("up", "status"):
        result = run(engine, fresh, word)
        assert result.exit_code == 1
        assert f"{name} was changed after it was applied" in result.output


@pytest.mark.parametrize("name", ["windows", "one_more"])
def test_a_first_schema_that_changed_is_an_error(engine: ClickHouse, fresh: str, schema: Path, name: str) -> None:
    run(engine, fresh, "up")
    with (schema / f"tables/{name}.sql").open("a") as file:
        file.write("SELECT 1;\n")
    for word in ("up", "status"):
        result = run(engine, fresh, word)
        assert result.exit_code == 1
        assert "clickhouse/tables was changed after it was applied" in result.output


def test_a_first_schema_that_was_half_made_is_made_whole(engine: ClickHouse, fresh: str, schema: Path) -> None:
    assert run(engine, fresh, "up").exit_code == 0
    tables = definitions(engine)
    client = engine.client(fresh)
    client.command("DROP TABLE trace_counts SYNC")
    client.command("TRUNCATE TABLE schema_migrations SYNC")
    assert "applied tables" in run(engine, fresh, "up").output
    assert definitions(engine) == tables


def test_a_new_migration_and_a_changed_view_are_taken_up(engine: ClickHouse, fresh: str, schema: Path) -> None:
    run(engine, fresh, "up")
    name = migration(schema, 9998, "CREATE TABLE IF NOT EXISTS extra (a UInt8) ENGINE = Log")
    view = schema / "views/v_stage_lag.sql"
    view.write_text("CREATE OR REPLACE VIEW v_stage_lag AS SELECT 7 AS seven FROM extra")
    result = run(engine, fresh, "up")
    assert f"applied {name}" in result.output
    engine.client(fresh).command("INSERT INTO extra VALUES (1)")
    assert engine.client(fresh).query("SELECT seven FROM v_stage_lag").result_rows == [(7,)]


def test_migrations_are_applied_in_order(engine: ClickHouse, fresh: str, schema: Path) -> None:
    migration(schema, 9999, "ALTER TABLE extra ADD COLUMN IF NOT EXISTS b UInt8")
    migration(schema, 9998, "CREATE TABLE IF NOT EXISTS extra (a UInt8) ENGINE = MergeTree ORDER BY a")
    assert run(engine, fresh, "up").exit_code == 0
    assert [row[0] for row in engine.client(fresh).query("DESCRIBE TABLE extra").result_rows] == ["a", "b"]


def test_an_error_names_file_and_statement_and_can_be_repeated(engine: ClickHouse, fresh: str, schema: Path) -> None:
    good = "CREATE TABLE IF NOT EXISTS one (a UInt8) ENGINE = Log;\n"
    name = migration(schema, 9998, f"{good}CREATE TABEL two;\n")
    result = run(engine, fresh, "up")
    assert result.exit_code == 1
    assert f"{name}, statement 2 (CREATE TABEL two)" in result.output
    migration(schema, 9998, good)
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
