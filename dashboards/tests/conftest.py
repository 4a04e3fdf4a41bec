"""Fixtures: the dashboards as committed, and a real engine with the schema and a handful of rows."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from migrate.__main__ import schema_up
from sluice_kit.fakes.grafana import Scope
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.rollups import fill_rollups, stop_rollups
from sluice_kit.servers.rows import SECONDS, insert_shop, now

JSON = Path(__file__).resolve().parents[1] / "json"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The user that the provisioned data source has."""
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        writer = server.client("sluice")
        insert_shop(writer, now(writer))
        fill_rollups(writer)
        yield server.client("sluice", user="sluice_reader")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Client]]:
    """The writer and the reader of an engine with the schema and no rows. A test deletes the rows that it adds."""
    with clickhouse(tmp_path_factory.mktemp("bare")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        stop_rollups(server.client("sluice"))
        yield server.client("sluice"), server.client("sluice", user="sluice_reader")


@pytest.fixture(scope="module")
def scope(reader: Client) -> Scope:
    """The demo's server pool, over the time that has rows."""
    end = now(reader) + timedelta(seconds=1)
    start = end - timedelta(seconds=SECONDS + 30)
    chosen = {"service": "cart", "side": "server", "peer": "-", "threshold_ms": "250", "datasource": "chosen"}
    chosen |= {"services": "*", "roots": "*", "upstreams": "*", "sessions": "*"}
    return Scope(int(start.timestamp() * 1000), int(end.timestamp() * 1000), 5000, chosen)


@pytest.fixture(scope="session")
def boards() -> dict[str, Any]:
    """All dashboards, by uid."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(JSON.glob("*.json"))}


@pytest.fixture(params=sorted(file.stem for file in JSON.glob("*.json")))
def board(request: pytest.FixtureRequest, boards: dict[str, Any]) -> dict[str, Any]:
    """Each dashboard in turn."""
    return boards[request.param]  # type: ignore[no-any-return]
