"""The files of clickhouse/tables say what the migrations end in, on the real engine; and what is written from them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from migrate.errors import MigrateError
from migrate.statements import read
from schema.flink import ROWS, Row, sink, sql_type
from schema.tables import FOLDER, Column, Table, table, tables
from support.clickhouse import ClickHouse

TABLES = tables()
OF_COLUMNS = "name, type, default_kind, default_expression, comment, compression_codec"
OF_TABLES = "partition_key, sorting_key, primary_key"
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


@pytest.fixture(scope="module")
def as_told(engine: ClickHouse) -> Iterator[str]:
    """A database that was made from the files."""
    engine.client().command("CREATE DATABASE as_told")
    for name in TABLES:
        (statement,) = read(FOLDER / f"{name}.sql")
        engine.client("as_told").command(statement.text)
    yield "as_told"
    engine.client().command("DROP DATABASE as_told SYNC")


def described(client: Client, database: str, name: str) -> dict[str, Any]:
    """All that the engine knows of a table but the order of its columns, which nobody goes by, and of its settings."""

    def told(what: str, of: str, where: str) -> list[tuple[Any, ...]]:
        query = f"SELECT {what} FROM system.{of} WHERE database = {{database:String}} AND {where} = {{name:String}}"
        return list(client.query(query, parameters={"database": database, "name": name}).result_rows)

    ((engine, *keys),) = told(f"engine_full, {OF_TABLES}", "tables", "name")
    engine, _, settings = engine.partition(" SETTINGS ")
    columns = {row[0]: row[1:] for row in told(OF_COLUMNS, "columns", "table")}
    indices = told("name, type_full, expr, granularity", "data_skipping_indices", "table")
    return {"engine": engine, "keys": keys, "settings": {*settings.split(", ")}, "indices": indices, **columns}


@pytest.mark.integration
@pytest.mark.parametrize("name", TABLES)
def test_the_migrations_end_in_it(engine: ClickHouse, schema_once: list[str], as_told: str, name: str) -> None:
    assert name in schema_once
    client = engine.client()
    assert described(client, "sluice", name) == described(client, as_told, name)


@pytest.mark.parametrize("name", TABLES)
def test_what_tells_rows_apart_is_in_the_key(name: str) -> None:
    """Names, truths and times. A dimension that is not there merges rows that are different."""
    beside = [each.name for each in TABLES[name].values if "Int" not in each.type]
    assert beside == DESCRIBING.get(name, [])


def test_a_table_is_read(tmp_path: Path) -> None:
    file = tmp_path / "example.sql"
    file.write_text(EXAMPLE)
    example = table(file)
    assert example.key == ("kind", "window")
    assert [each.name for each in example.values] == ["calls", "latency"]
    assert [*sink(example).items()] == [
        ("kind", "STRING NOT NULL"),
        ("window_s", "INT NOT NULL"),
        ("window", "TIMESTAMP_LTZ(3) NOT NULL"),
        ("calls", "BIGINT NOT NULL"),
        ("latency", "MAP<SMALLINT, INT>"),
        ("version", "BIGINT NOT NULL"),
    ]
    summed = Row("example", names={"version": "contributions"}, without="calls", seconds=True)
    assert summed.columns(example) == [
        "kind STRING NOT NULL",
        "window_start BIGINT NOT NULL",
        "latency BYTES NOT NULL",
        "contributions BIGINT NOT NULL",
    ]
    assert Row("example", values=True).columns(example) == ["calls BIGINT NOT NULL", "latency MAP<SMALLINT, INT>"]
    with pytest.raises(MigrateError, match="write a row of example: its file has no column errors"):
        Row("example", "errors").columns(example)


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
    file = tmp_path / "example.sql"
    file.write_text(EXAMPLE.replace(*change))
    with pytest.raises(MigrateError, match=f"read .*example.sql: {said}"):
        table(file)


def test_a_type_that_no_job_writes_is_told() -> None:
    of = Table("example", (), ())
    with pytest.raises(MigrateError, match=r"example.sql: ratio is Float64; the jobs write Bool, UInt8, "):
        sql_type(of, Column("ratio", "Float64"))


def test_each_row_is_of_a_table() -> None:
    assert {row.table for row in ROWS.values()} == {*TABLES}
