"""`check` and `ready`, two migrators at a time, and versions that are recorded last."""

import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from clickhouse_connect.driver.exceptions import ClickHouseError

import migrate.__main__ as command
from migrate import migrations
from migrate.errors import MigrateError
from migrate.lock import TABLE, Lock
from migrate.migrations import Applied
from migrate.versions import missing, wait
from sluice_kit.servers.clickhouse import ClickHouse

NEXT = "CREATE TABLE IF NOT EXISTS extra (a UInt8) ENGINE = Log;\n"


def run(engine: ClickHouse, word: str, *more: str) -> Result:
    only = ["--only", "clickhouse"] if word == "up" else []
    words = [word, "--clickhouse", engine.writer_url, "--database", "fresh", "--wait", "5", *only, *more]
    return CliRunner().invoke(command.cli, words)


@pytest.fixture
def schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: ClickHouse) -> Path:
    """A small schema in place of the command line's: one table, one view. It is made in the database `fresh`."""
    for name, text in {
        "tables/first.sql": "CREATE TABLE IF NOT EXISTS first (a UInt8) ENGINE = MergeTree ORDER BY a",
        "views/v_first.sql": "CREATE OR REPLACE VIEW v_first AS SELECT a FROM first",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "functions").mkdir()
    (tmp_path / "migrations").mkdir()
    monkeypatch.setattr(command, "CLICKHOUSE", tmp_path)
    engine.client().command("DROP DATABASE IF EXISTS fresh SYNC")
    return tmp_path


def test_check_lists_what_is_behind_and_a_newer_database_is_left_alone(engine: ClickHouse, schema: Path) -> None:
    assert run(engine, "check").output == "pending  tables\n"
    assert run(engine, "check").exit_code == 1
    assert run(engine, "up").exit_code == 0
    current = run(engine, "check")
    assert (current.exit_code, current.output) == (0, "current  tables\n")
    (schema / "migrations/0003_more.sql").write_text(NEXT)
    behind = run(engine, "check")
    assert (behind.exit_code, behind.output) == (1, "pending  0003_more.sql\n")
    assert run(engine, "up").exit_code == 0

    # The chart is rolled back: its source tree ends before the database.
    (schema / "migrations/0003_more.sql").unlink()
    (schema / "views/v_first.sql").write_text("CREATE OR REPLACE VIEW v_first AS SELECT 7 AS old FROM first")
    older = run(engine, "up")
    assert (older.exit_code, "nothing changed: the database has 0003_more" in older.output) == (0, True)
    assert (run(engine, "check").output, run(engine, "ready").exit_code) == ("newer    0003_more\n", 0)
    assert engine.client("fresh").query("DESCRIBE TABLE v_first").result_rows[0][0] == "a"


def test_check_of_a_server_that_is_away_is_an_error() -> None:
    words = ["check", "--clickhouse", "http://127.0.0.1:1", "--wait", "0"]
    assert CliRunner().invoke(command.cli, words).exit_code == 2


def test_a_version_is_recorded_after_the_views(engine: ClickHouse, schema: Path) -> None:
    (schema / "views/v_first.sql").write_text("CREATE OR REPLACE VIEW v_first AS SELECT missing FROM first")
    assert run(engine, "up").exit_code == 1
    assert run(engine, "check").output == "pending  tables\n"
    waiting = run(engine, "ready", "--wait", "0")
    assert waiting.exit_code == 1
    assert "have none, need 0; run `sluice-migrate up`" in waiting.output


def test_passwords_come_from_files_alone(engine: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_CLICKHOUSE_PASSWORD", "of-a-test")
    result = run(engine, "status")
    assert result.exit_code == 1
    assert "SLUICE_CLICKHOUSE_PASSWORD: it is not legal; legal: SLUICE_CLICKHOUSE_PASSWORD_FILE=PATH" in result.output


def test_two_at_once(engine: ClickHouse, schema: Path) -> None:
    """Both end well, and only one of them applies."""
    results: list[list[str]] = []

    def up() -> None:
        results.append(command.schema_up(engine.writer_url, "fresh", 30))

    migrators = [threading.Thread(target=up) for _ in range(3)]
    for migrator in migrators:
        migrator.start()
    for migrator in migrators:
        migrator.join()
    assert sorted(results) == [[], [], ["applied tables"]]
    client = engine.client("fresh")
    assert client.query("SELECT count() FROM schema_migrations").result_rows == [(1,)]
    names = {row[0] for row in client.query("SHOW TABLES").result_rows}
    assert names == {"first", "v_first", "schema_migrations"}


def test_the_lock_of_a_dead_migrator_is_taken_and_it_notices_when_it_lives_on(engine: ClickHouse) -> None:
    engine.client().command("DROP DATABASE IF EXISTS fresh SYNC")
    engine.client().command("CREATE DATABASE fresh")
    lines: list[str] = []
    stopped = Lock(engine.client("fresh"), "fresh", beat_s=3_600)
    stopped.__enter__()
    with Lock(engine.client("fresh"), "fresh", stale_s=0.5, say=lines.append) as taken:
        assert any(stopped.holder in line and "no longer lives" in line for line in lines)
        stopped._beat_s = 0.01
        beating = threading.Thread(target=stopped._beat)
        beating.start()
        beating.join()
        with pytest.raises(MigrateError, match="another migrator has it; run it again"):
            stopped.check()
        stopped.__exit__(None, None, None)
        taken.check()
        assert engine.client("fresh").query(f"EXISTS TABLE {TABLE}").result_rows == [(1,)]
    with pytest.raises(ClickHouseError):
        engine.client("fresh").command(f"SELECT * FROM {TABLE}")
    assert engine.client("fresh").query("SHOW TABLES").result_rows == []


def test_a_lock_whose_holder_lives_is_waited_for(engine: ClickHouse) -> None:
    engine.client().command("DROP DATABASE IF EXISTS fresh SYNC")
    engine.client().command("CREATE DATABASE fresh")
    order: list[str] = []

    def second() -> None:
        with Lock(engine.client("fresh"), "fresh", stale_s=60):
            order.append("second")

    with Lock(engine.client("fresh"), "fresh", beat_s=0.1):
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(1.5)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_missing_and_wait() -> None:
    files = migrations.load(command.CLICKHOUSE)
    newest = files[-1].version
    assert missing(files, {}).startswith(f"have none, need {newest}")
    assert missing(files, {newest + 2: Applied(newest + 2, "later", "")}) == ""

    now, lines, answers = 0.0, list[str](), ["have none", *["have 0"] * 20, ""]

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    wait(lambda: answers.pop(0), 600, lines.append, clock=lambda: now, sleep=sleep)
    # 21 looks, 2 s apart: the first, and one 30 s later, are said.
    assert lines == ["waiting for the schema: have none", "waiting for the schema: have 0"]
    with pytest.raises(MigrateError, match="not ready after 5 s: have none"):
        wait(lambda: "have none", 5, lines.append, clock=lambda: now, sleep=sleep)
