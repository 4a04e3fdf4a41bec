"""Fixtures: one real ClickHouse engine a session, and a database with the whole schema for each test."""

from collections.abc import Iterator

import pytest
from clickhouse_connect.driver.client import Client

from migrate.__main__ import schema_up
from support.clickhouse import ClickHouse, clickhouse


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture
def database(engine: ClickHouse) -> Iterator[str]:
    """Name of a database that has the whole schema and no rows (the only one that the read-only user may read)."""
    schema_up(engine.url, "sluice", wait_s=10)
    yield "sluice"
    engine.client().command("DROP DATABASE sluice SYNC")


@pytest.fixture
def client(engine: ClickHouse, database: str) -> Client:
    return engine.client(database)
