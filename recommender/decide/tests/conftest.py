"""Fixtures: one real ClickHouse engine a session, with Sluice's schema for each test that asks, and one real broker."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from migrate.__main__ import schema_up
from support.clickhouse import ClickHouse, clickhouse
from support.kafka import Kafka, kafka

# How long an example takes depends on what else runs; a test that hangs is stopped by its timeout.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture
def database(engine: ClickHouse) -> Iterator[ClickHouse]:
    """The engine, with the whole schema and no rows in its database `sluice`."""
    schema_up(engine.writer_url, "sluice", wait_s=10)
    yield engine
    engine.client().command("DROP DATABASE sluice SYNC")


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running
