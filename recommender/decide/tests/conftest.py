"""Fixtures: a real broker of the run; for a module a real ClickHouse engine, with the schema and no rows for who asks.

An engine with the schema takes 0.8 s of CPU to start, and 3 % of a core while nobody asks it: too much for a session.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings

from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.kafka import JARS, Broker, kafka
from sluice_kit.servers.schema import emptied, whole_schema

# How long an example takes depends on what else runs; a test that hangs is stopped by its timeout.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture(scope="module")
def schema_once(engine: ClickHouse) -> list[str]:
    return whole_schema(engine)


@pytest.fixture
def database(engine: ClickHouse, schema_once: list[str]) -> ClickHouse:
    """The engine, with the whole schema and no rows in its database `sluice`."""
    emptied(engine, schema_once)
    return engine


SHARED = pytest.StashKey[Broker]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Processes of one run (pytest-xdist) share a broker: one of its own takes 2.4 s of CPU to start, and 3 % of a core
    while nobody asks it. Tests name their topics apart."""
    config = node.config
    if SHARED not in config.stash:
        if not JARS.exists():
            return
        up = ExitStack()
        config.add_cleanup(up.close)
        config.stash[SHARED] = up.enter_context(kafka(Path(up.enter_context(TemporaryDirectory()))))
    shared = config.stash[SHARED]
    node.workerinput["broker"] = (shared.bootstrap, str(shared.folder))


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    shared = getattr(request.config, "workerinput", {}).get("broker")
    if shared is not None:
        bootstrap, folder = shared
        yield Broker(bootstrap, Path(folder))
        return
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running
