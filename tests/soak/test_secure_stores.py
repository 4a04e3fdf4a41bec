"""Migrator and command line speak TLS to ClickHouse and Neo4j, with certificates that nobody trusts unless told to."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse, secure_clickhouse
from sluice_kit.servers.neo4j import Neo4j, neo4j
from sluice_kit.servers.secure_kafka import certificates
from stack.settings import REPOSITORY


@dataclass(frozen=True)
class Stores:
    database: ClickHouse
    graph: Neo4j
    ca: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Of every stage; secrets by reference."""
        return {
            "SLUICE_CLICKHOUSE": self.database.url,
            "SLUICE_CLICKHOUSE_CA": self.ca,
            "SLUICE_CLICKHOUSE_USER": WRITER,
            "SLUICE_CLICKHOUSE_PASSWORD": "",
            "SLUICE_CLICKHOUSE_PASSWORD_FILE": str(self.folder / "clickhouse-password"),
            "SLUICE_NEO4J": self.graph.url,
            "SLUICE_NEO4J_HTTP": self.graph.http,
            "SLUICE_NEO4J_CA": self.ca,
            "SLUICE_NEO4J_PASSWORD": "",
            "SLUICE_NEO4J_PASSWORD_FILE": str(self.folder / "neo4j-password"),
        }


def migrate(variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "migrate", "up", "--wait", "10"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "storage")} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """With the schema, which the migrator brought by TLS."""
    folder = tmp_path_factory.mktemp("stores")
    made, database, graph = (folder / name for name in ("certificates", "database", "graph"))
    for path in (made, database, graph):
        path.mkdir()
    certificates(made)
    with secure_clickhouse(database, made) as engine, neo4j(graph, certificates=made) as server:
        (folder / "clickhouse-password").write_text(PASSWORD)
        (folder / "neo4j-password").write_text(server.password)
        up = Stores(engine, server, str(made / "ca.pem"), folder)
        done = migrate(up.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "clickhouse: applied" in done.stdout
        assert "neo4j: constraints are current" in done.stdout
        yield up


@pytest.mark.parametrize("store", ["CLICKHOUSE", "NEO4J"])
def test_a_certificate_of_whom_nobody_trusts_is_refused(stores: Stores, store: str) -> None:
    done = migrate(stores.environment | {f"SLUICE_{store}_CA": ""})
    assert done.returncode == 1
    assert "error: " in done.stderr


def test_the_command_line_asks_there(stores: Stores) -> None:
    def sluice(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        password = {"SLUICE_NEO4J_PASSWORD": stores.graph.password}
        environment = os.environ | stores.environment | password | more
        command = [str(REPOSITORY / "sluice"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    query = "SELECT count() > 0 AS n FROM schema_migrations"
    result = sluice("sql", query, "-o", "jsonl")
    assert (result.returncode, result.stdout) == (0, '{"n": 1}\n'), result.stdout + result.stderr
    refused = sluice("sql", query, SLUICE_CLICKHOUSE_CA="")
    assert refused.returncode == 1
    assert "certificate" in refused.stderr.lower()
    missing = sluice("sql", query, SLUICE_CLICKHOUSE_CA="/nowhere.pem")
    assert missing.returncode == 1
    assert "SLUICE_CLICKHOUSE_CA" in missing.stderr
    lines = sluice("doctor", "--timeout", "60", "-o", "jsonl").stdout.splitlines()
    checks = [line for line in lines if '"clickhouse", "what": "reachable"' in line or '"what": "call graph"' in line]
    levels = [json.loads(line)["level"] for line in checks]
    assert levels == ["ok", "warn"], checks  # a graph without calls
