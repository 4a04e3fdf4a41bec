"""Names that no honest sender of spans has stay names in the graph, and change no statement."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase

from migrate.graph import run
from migrate.statements import read
from sluice_kit.hostile import TEXTS
from sluice_kit.servers.neo4j import neo4j

pytestmark = pytest.mark.timeout(300)  # a loaded machine takes long to start the server

STORAGE = Path(__file__).resolve().parents[1]
JOBS = STORAGE.parent / "streaming-jobs/jobs"
MORE = ("\\", "a\\", "\\'", "a\tb", "a\nb", "$rows", "{name: 'x'}", "'", '"', "`", "🧵", "..", 'x","service":"cart')
# The decoder of spans cuts names to 256 bytes.
NAMES = [name for name in dict.fromkeys((*TEXTS, *MORE)) if name and len(name.encode()) <= 256]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with (
        neo4j(tmp_path_factory.mktemp("neo4j"), transaction_memory="16m") as server,
        GraphDatabase.driver(server.url, auth=("neo4j", server.password)) as driver,
    ):
        run(driver, [statement for file in sorted(STORAGE.glob("neo4j/*.cypher")) for statement in read(file)])
        yield driver


def test_names_are_written_and_found_as_they_are(driver: Driver) -> None:
    window = {"window": 1000, "window_s": 10}
    numbers = {"calls": 4, "errors": 0, "rate_per_s": 0.4, "error_ratio": 0.0, "p50_ms": 5, "p95_ms": 8, "p99_ms": 9}
    calls = [{"caller": "root", "callee": name, **window, **numbers} for name in NAMES]
    seen = [{"service": name, "instance": name, "host": name, "operation": name, **window} for name in NAMES]
    trees = [
        {"service": "root", "operation": name, "window": 1000, "traces": 1, "total": 1, "share": 1.0}
        | {"tree": json.dumps({"stages": [[{"service": name}]]}, ensure_ascii=False, separators=(",", ":"))}
        for name in NAMES
    ]
    for statement, rows in (("calls", calls), ("seen", seen), ("trees", trees)):
        driver.execute_query((JOBS / f"{statement}.cypher").read_text(), rows=rows)
    written = "MATCH (:Service {name: 'root'})-[:CALLS]->(s)<-[:OF]-(i:Instance)-[:ON]->(h) RETURN s.name, i.id, h.name"
    assert {tuple(record.values()) for record in driver.execute_query(written).records} == {
        (name, name, name) for name in NAMES
    }
    (statement,) = read(STORAGE / "neo4j/cookbook/blast_radius.cypher")
    of_instance = statement.text.replace("'cart-0'", "$instance")
    for name in NAMES:
        (record,) = driver.execute_query(of_instance, instance=name).records
        assert record["service"] == name
        if name.isprintable():
            assert record["root_operations"] == [f"root {name}"]
