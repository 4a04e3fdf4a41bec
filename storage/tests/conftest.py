"""Fixtures: a real ClickHouse engine for each module, and a database with the schema and no rows for each test."""

from collections.abc import Iterator

import pytest
from clickhouse_connect.driver.client import Client

from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.rollups import fill_rollups
from sluice_kit.servers.rows import insert_shop, now
from sluice_kit.servers.schema import emptied, whole_schema


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture(scope="module")
def schema_once(engine: ClickHouse) -> list[str]:
    return whole_schema(engine)


@pytest.fixture
def database(engine: ClickHouse, schema_once: list[str]) -> str:
    """Name of a database that has the whole schema and no rows."""
    emptied(engine, schema_once)
    return "sluice"


@pytest.fixture
def client(engine: ClickHouse, database: str) -> Client:
    return engine.client(database)


@pytest.fixture(scope="module")
def reader(engine: ClickHouse, schema_once: list[str]) -> Client:
    """The read-only user's, with the rows of a shop, for a module whose tests write nothing."""
    emptied(engine, schema_once)
    client = engine.client("sluice")
    insert_shop(client, now(client))
    fill_rollups(client)
    return engine.client("sluice", user="sluice_reader")
