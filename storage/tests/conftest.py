"""Fixtures: one real ClickHouse engine a session, and a database with the whole schema for each test."""

from collections.abc import Iterator

import pytest
from clickhouse_connect.driver.client import Client

from migrate.__main__ import schema_up
from support.clickhouse import ClickHouse, clickhouse
from support.rollups import ROLLUPS


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture(scope="session")
def schema_once(engine: ClickHouse) -> list[str]:
    """The whole schema in the database `sluice`, the only one that the read-only user may read; names of its tables.

    Rollups are filled when a test asks: a refresh that runs while the tables are emptied would fill them again.
    """
    schema_up(engine.writer_url, "sluice", wait_s=10)
    client = engine.client("sluice")
    for name in ROLLUPS:
        client.command(f"SYSTEM STOP VIEW fill_{name}")
    query = "SELECT name FROM system.tables WHERE database = 'sluice' AND engine LIKE '%MergeTree'"
    return [row[0] for row in client.query(query).result_rows if row[0] != "schema_migrations"]


@pytest.fixture
def database(engine: ClickHouse, schema_once: list[str]) -> str:
    """Name of a database that has the whole schema and no rows."""
    client = engine.client("sluice")
    for table in schema_once:
        client.command(f"TRUNCATE TABLE {table}")
    return "sluice"


@pytest.fixture
def client(engine: ClickHouse, database: str) -> Client:
    return engine.client(database)
