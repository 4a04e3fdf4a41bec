"""Fixtures: one real ClickHouse engine a session, and a database with the whole schema for each test."""

import itertools
from collections.abc import Iterator

import pytest
from clickhouse_connect.driver.client import Client
from migrate.__main__ import schema_up
from support.clickhouse import ClickHouse, clickhouse

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture
def database(engine: ClickHouse) -> Iterator[str]:
    """Name of a database that has the whole schema and no rows."""
    name = f"sluice_{next(_numbers)}"
    schema_up(engine.url, name, wait_s=10)
    yield name
    engine.client().command(f"DROP DATABASE {name}")


@pytest.fixture
def client(engine: ClickHouse, database: str) -> Client:
    return engine.client(database)
