"""Fixtures: one real broker and one real ClickHouse engine a session, with the schema and no rows for who asks."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.kafka import Kafka, kafka
from sluice_kit.servers.schema import emptied, whole_schema

# How long an example takes depends on what else runs; a test that hangs is stopped by its timeout.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture(scope="session")
def schema_once(engine: ClickHouse) -> list[str]:
    return whole_schema(engine)


@pytest.fixture
def database(engine: ClickHouse, schema_once: list[str]) -> ClickHouse:
    """The engine, with the whole schema and no rows in its database `sluice`."""
    emptied(engine, schema_once)
    return engine


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running
