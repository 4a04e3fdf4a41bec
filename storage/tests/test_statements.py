"""Splitting files into statements, ordering definitions, reading and changing a TTL: no server."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate import definitions, migrations, ttl
from migrate.errors import MigrateError
from migrate.migrations import Applied
from migrate.statements import read, split
from migrate.waiting import until_ready


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;\nSELECT 2;\n", ["SELECT 1", "SELECT 2"]),
        ("-- first; not the end\nSELECT 1 -- nor; this\n;", ["SELECT 1"]),
        ("/* a;\n b; */ SELECT ';', 'it''s;', 'a\\';' ;", ["SELECT ';', 'it''s;', 'a\\';'"]),
        ("SELECT '-- no comment', \"a;b\", `c;d`", ["SELECT '-- no comment', \"a;b\", `c;d`"]),
        ("SELECT\n\n  1", ["SELECT\n  1"]),
        (" ;; -- nothing", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// Cypher; too\nMATCH (n) RETURN n; // end", ["MATCH (n) RETURN n"]),
        ("MATCH (a)-->(b)--(c) RETURN a; RETURN 1", ["MATCH (a)-->(b)--(c) RETURN a", "RETURN 1"]),
        ("/* a;\n b; */ MATCH (n:`a;b`) RETURN 'c//d'", ["MATCH (n:`a;b`) RETURN 'c//d'"]),
    ],
)
def test_split_of_cypher(tmp_path: Path, text: str, expected: list[str]) -> None:
    file = tmp_path / "query.cypher"
    file.write_text(text)
    assert [statement.text for statement in read(file)] == expected


@given(
    st.lists(
        st.from_regex(r"[A-Za-z0-9 ']*[A-Za-z0-9]", fullmatch=True).map(lambda text: text.replace("'", "';'")),
        max_size=5,
    )
)
def test_split_finds_what_was_joined(parts: list[str]) -> None:
    wanted = [part.strip() for part in parts]
    assert split(" ; -- x;\n".join(parts)) == wanted


def test_a_file_without_a_statement_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "empty.sql"
    file.write_text("-- later")
    with pytest.raises(MigrateError, match=r"empty\.sql: it has no statement"):
        read(file)


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        (path / f"{name}.sql").write_text(text)
    return path


def test_definitions_come_after_those_they_name(tmp_path: Path) -> None:
    folder(
        tmp_path,
        v_a="CREATE OR REPLACE VIEW v_a AS SELECT * FROM v_b(x = 1)",
        v_b="CREATE OR REPLACE VIEW v_b AS SELECT {x:UInt8} FROM v_c",
        v_c="CREATE OR REPLACE VIEW v_c AS SELECT 1 -- unlike v_a",
    )
    assert [view.file.stem for view in definitions.load(tmp_path, "VIEW")] == ["v_c", "v_b", "v_a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE VIEW v_a AS SELECT 1", "expected one statement, CREATE OR REPLACE VIEW v_a"),
        ("CREATE OR REPLACE VIEW v_b AS SELECT 1", "expected one statement, CREATE OR REPLACE VIEW v_a"),
        ("CREATE OR REPLACE VIEW v_a AS SELECT 1; SELECT 2", "expected one statement"),
    ],
)
def test_a_definition_that_is_not_its_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MigrateError, match=message):
        definitions.load(folder(tmp_path, v_a=text), "VIEW")


def test_definitions_in_a_circle(tmp_path: Path) -> None:
    folder(
        tmp_path,
        v_a="CREATE OR REPLACE VIEW v_a AS SELECT * FROM v_b",
        v_b="CREATE OR REPLACE VIEW v_b AS SELECT * FROM v_a",
    )
    with pytest.raises(MigrateError, match=r"in a circle: v_. -> v_. -> v_."):
        definitions.load(tmp_path, "VIEW")


def files(path: Path, *names: str) -> Path:
    """A folder with these migrations and no first schema."""
    (path / "migrations").mkdir()
    for name in names:
        (path / "migrations" / name).write_text(f"SELECT '{name}'")
    return path


@pytest.mark.parametrize("names", [("0001_a.sql", "0001_b.sql"), ("1_a.sql",), ("0001-a.sql",), ("0000_a.sql",)])
def test_a_number_that_stands_twice_or_is_none(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(MigrateError, match=r"0001_a\.sql has that number too|must be named"):
        migrations.load(files(tmp_path, *names))


def test_numbers_with_a_gap_are_in_order_behind_the_first_schema(tmp_path: Path) -> None:
    loaded = migrations.load(files(tmp_path, "0010_b.sql", "0003_a.sql"))
    assert [(migration.version, migration.name) for migration in loaded] == [(0, "tables"), (3, "a"), (10, "b")]


def test_the_first_schema_makes_tables_before_what_reads_them(tmp_path: Path) -> None:
    view, a, b = (
        "CREATE MATERIALIZED VIEW fill TO a AS SELECT * FROM b",
        "CREATE TABLE a (x Int8)",
        "CREATE TABLE b (x Int8)",
    )
    (tmp_path / "tables").mkdir()
    folder(tmp_path / "tables", a=f"{a};\n{view};", b=b)
    (first,) = migrations.load(tmp_path)
    assert [statement.text for statement in first.statements()] == [a, b, view]
    (tmp_path / "tables/b.sql").rename(tmp_path / "tables/c.sql")
    assert migrations.load(tmp_path)[0].checksum != first.checksum


def test_pending_are_those_not_yet_applied(tmp_path: Path) -> None:
    _, first, second = migrations.load(files(tmp_path, "0001_a.sql", "0002_b.sql"))
    assert migrations.pending([first, second], {}) == [first, second]
    assert migrations.pending([first, second], {1: Applied(1, "a", first.checksum)}) == [second]


def test_a_changed_or_missing_file_is_an_error(tmp_path: Path) -> None:
    _, first, third = migrations.load(files(tmp_path, "0001_a.sql", "0003_c.sql"))
    with pytest.raises(MigrateError, match=r"0001_a\.sql was changed after it was applied"):
        migrations.pending([first], {1: Applied(1, "a", "0" * 64)})
    with pytest.raises(MigrateError, match="the database has 0002_b and the folder has not"):
        migrations.pending([first, third], {1: Applied(1, "a", first.checksum), 2: Applied(2, "b", "1")})
    # A newer one is of a later source tree.
    applied = {1: Applied(1, "a", first.checksum), 2: Applied(2, "b", "1")}
    assert (migrations.pending([first], applied), migrations.newer([first], applied)) == ([], "0002_b")
    assert migrations.newer([first], {}) == migrations.newer([first], {1: applied[1]}) == ""


def test_ttl_alteration_keeps_the_expression() -> None:
    engine = "MergeTree PARTITION BY toDate(bucket) ORDER BY a TTL toDateTime(bucket) + toIntervalDay(7) SETTINGS x = 1"
    plain, two = "MergeTree ORDER BY a SETTINGS x = 1", "Log TTL a + toIntervalDay(1), b + toIntervalDay(2)"
    tables = {"windows": engine, "plain": plain, "two": two, "edges": "Log TTL w + toIntervalDay(30)"}
    assert [ttl.kept(definition) for definition in tables.values()] == [7, None, None, 30]
    assert ttl.alterations(tables, {"windows": 7, "edges": 30}) == {}
    assert ttl.alterations(tables, {"windows": 3, "edges": 30}) == {
        "windows": "ALTER TABLE `windows` MODIFY TTL toDateTime(bucket) + toIntervalDay(3)"
    }
    for table in ("plain", "two", "nothing"):
        with pytest.raises(MigrateError, match=f"TTL of {table}: there is no such .*; known: edges, windows$"):
            ttl.alterations(tables, {"windows": 3, table: 3})


@pytest.mark.parametrize("text", ["windows", "windows=", "windows=0", "windows=4000", "a b=1", "windows=-1"])
def test_ttl_option_out_of_range(text: str) -> None:
    with pytest.raises(MigrateError, match="expected TABLE=N with N from 1 to 3650 days"):
        ttl.parse_option(text)


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def wait(attempts: Iterable[Exception | str], limit_s: float, clock: Clock) -> str:
    results = iter(attempts)

    def attempt() -> str:
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    return until_ready(
        "Store", attempt, (OSError,), limit_s, clock=lambda: clock.now, sleep=clock.sleep, jitter=lambda: 0.0
    )


def test_waits_longer_each_time_until_ready() -> None:
    clock = Clock()
    assert wait([OSError("refused")] * 7 + ["up"], 60, clock) == "up"
    assert clock.pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0])


def test_gives_up_at_the_limit() -> None:
    clock = Clock()
    with pytest.raises(MigrateError, match="connect to Store: not ready after 1 s: refused"):
        wait([OSError("refused\nmore")] * 99, 1, clock)
    # 0.1 + 0.2 + 0.4, and the 0.3 that are left
    assert clock.pauses == pytest.approx([0.1, 0.2, 0.4, 0.3])


def test_other_errors_are_not_waited_for() -> None:
    with pytest.raises(ValueError, match="wrong"):
        wait([ValueError("wrong")], 60, Clock())
