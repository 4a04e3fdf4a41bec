"""What is read of the schema's files is what the real engine makes of them; and what is written from it."""

from pathlib import Path

import pytest

from migrate.errors import MigrateError
from migrate.statements import read
from schema import flink
from schema.flink import Row, sink, sql_type
from schema.tables import FOLDER, LENGTHS, WRITTEN, Column, Table, tables
from sluice_kit.servers.clickhouse import ClickHouse

TABLES = flink.written_tables()
# What tells rows apart has to be in ORDER BY. These only describe a row.
DESCRIBING = {"critical_paths": ["slowest_trace_id", "median_trace_id"], "offset_gaps": ["received"]}
EXAMPLE = """-- A comment; with a semicolon.
CREATE TABLE example
(
    kind     Enum8('one' = 1, 'two' = 2),
    window_s UInt16                 CODEC(ZSTD(1)),
    window   DateTime('UTC')        COMMENT 'start, of course' CODEC(Delta, ZSTD(1)),
    calls    UInt32,
    latency  Map(Int16, UInt32)     CODEC(ZSTD(1)),
    version  UInt64,
    written  DateTime64(3, 'UTC')   DEFAULT now64(3),
    INDEX written_range written TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (window_s, window, kind);
"""


@pytest.mark.integration
@pytest.mark.parametrize("name", TABLES)
def test_the_engine_knows_the_same_columns_and_key(engine: ClickHouse, schema_once: list[str], name: str) -> None:
    assert name in schema_once
    parameters = {"table": name}
    query = (
        "SELECT name, type FROM system.columns WHERE database = 'sluice' AND table = {table:String} ORDER BY position"
    )
    columns = [
        Column(*row) for row in engine.client().query(query, parameters=parameters).result_rows if row[0] != WRITTEN
    ]
    assert columns == [*TABLES[name].columns]
    query = "SELECT sorting_key FROM system.tables WHERE database = 'sluice' AND name = {table:String}"
    ((key,),) = engine.client().query(query, parameters=parameters).result_rows
    assert {*key.split(", ")} - {*LENGTHS} == {*TABLES[name].key}


@pytest.mark.parametrize("file", sorted((FOLDER / "tables").glob("*.sql")), ids=lambda file: file.stem)
def test_a_file_is_of_one_table_and_what_fills_it(file: Path) -> None:
    first, *more = read(file)
    assert first.text.startswith(f"CREATE TABLE IF NOT EXISTS {file.stem}\n")
    assert all(f" APPEND TO {file.stem}\n" in statement.text for statement in more)


@pytest.mark.parametrize("name", TABLES)
def test_what_tells_rows_apart_is_in_the_key(name: str) -> None:
    """Names, truths and times. A dimension that is not there merges rows that are different."""
    beside = [value.name for value in TABLES[name].values if "Int" not in value.type]
    assert beside == DESCRIBING.get(name, [])


def written(folder: Path, text: str, name: str = "tables/example.sql") -> Path:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def example(folder: Path) -> Table:
    return tables(["example"], folder)["example"]


def test_a_table_is_read(tmp_path: Path) -> None:
    table = example(written(tmp_path, EXAMPLE))
    assert table.key == ("kind", "window")
    assert [value.name for value in table.values] == ["calls", "latency"]
    assert [*sink(table).items()] == [
        ("kind", "STRING NOT NULL"),
        ("window_s", "INT NOT NULL"),
        ("window", "TIMESTAMP_LTZ(3) NOT NULL"),
        ("calls", "BIGINT NOT NULL"),
        ("latency", "MAP<SMALLINT, INT>"),
        ("version", "BIGINT NOT NULL"),
    ]
    summed = Row("example", names={"version": "contributions"}, without="calls", seconds=True)
    assert summed.columns(table) == [
        "kind STRING NOT NULL",
        "window_start BIGINT NOT NULL",
        "latency BYTES NOT NULL",
        "contributions BIGINT NOT NULL",
    ]
    assert Row("example", values=True).columns(table) == ["calls BIGINT NOT NULL", "latency MAP<SMALLINT, INT>"]
    with pytest.raises(MigrateError, match="write a row of example: it has no column errors"):
        Row("example", "errors").columns(table)


def test_migrations_add_columns_and_tables_and_widen_types(tmp_path: Path) -> None:
    written(tmp_path, EXAMPLE)
    written(tmp_path, EXAMPLE.replace("TABLE example", "TABLE later"), "migrations/0001_later.sql")
    of_two = """ALTER TABLE example
    ADD COLUMN IF NOT EXISTS errors UInt32 COMMENT 'of calls, ADD COLUMN ' CODEC(ZSTD(1)) AFTER calls,
    MODIFY COLUMN calls UInt64;
ALTER TABLE example_of_others ADD COLUMN other UInt32;"""
    written(tmp_path, of_two, "migrations/0002_errors.sql")
    assert [(value.name, value.type) for value in example(tmp_path).values] == [
        ("calls", "UInt64"),
        ("latency", "Map(Int16, UInt32)"),
        ("errors", "UInt32"),
    ]
    assert tables(["later"], tmp_path)["later"].key == ("kind", "window")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("TABLE example", "TABLE another"), "expected CREATE TABLE example with columns, ENGINE and ORDER BY"),
        (("ORDER BY (window_s, window, kind)", ""), "expected CREATE TABLE example with columns, ENGINE and ORDER BY"),
        (("window, kind)", "window, side)"), "no column side; expected a line for each: its name and type"),
        (("    version", "version"), "no column version"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(MigrateError, match=f"read table example: {said}"):
        example(written(tmp_path, EXAMPLE.replace(*change)))


def test_a_type_that_no_job_writes_is_told() -> None:
    table = Table("example", (), ())
    with pytest.raises(MigrateError, match=r"read table example: ratio is Float64; the jobs write Bool, UInt8, "):
        sql_type(table, Column("ratio", "Float64"))
