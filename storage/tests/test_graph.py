"""Constraints and cookbook on a real Neo4j."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import ConstraintError

import migrate.__main__ as command
from migrate.statements import read
from support.neo4j import Neo4j, neo4j

pytestmark = pytest.mark.timeout(300)  # a loaded machine takes long to start the server

COOKBOOK = Path(__file__).resolve().parents[1] / "neo4j/cookbook"
# The writer's own statement: what stands in the graph is decided there.
UPSERT = Path(__file__).resolve().parents[2] / "streaming-jobs/jobs/calls.cypher"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4j]:
    with neo4j(tmp_path_factory.mktemp("neo4j")) as running:
        yield running


def up(server: Neo4j, password: str = "") -> Any:
    words = ["up", "--only", "neo4j", "--neo4j", server.url, "--neo4j-password", password or server.password]
    return CliRunner().invoke(command.cli, [*words, "--wait", "30"])


@pytest.fixture
def driver(server: Neo4j) -> Iterator[Driver]:
    assert up(server).exit_code == 0
    with GraphDatabase.driver(server.url, auth=("neo4j", server.password)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        yield driver


def call(driver: Driver, caller: str, callee: str, rate: float) -> None:
    driver.execute_query(
        "MERGE (a:Service {name: $caller}) MERGE (b:Service {name: $callee}) MERGE (a)-[c:CALLS]->(b) "
        "SET c += {window: 1000, window_s: 10, calls: 10 * $rate, rate_per_s: $rate, error_ratio: 0.0, p99_ms: 20.0}",
        caller=caller, callee=callee, rate=rate,
    )  # fmt: skip


def answer(driver: Driver, name: str) -> list[list[Any]]:
    (statement,) = read(COOKBOOK / f"{name}.cypher")
    return [record.values() for record in driver.execute_query(statement.text).records]


def test_constraints_are_repeatable_and_hold(server: Neo4j, driver: Driver) -> None:
    assert "neo4j: constraints are current" in up(server).output
    driver.execute_query("CREATE (:Service {name: 'cart'})")
    with pytest.raises(ConstraintError, match="already exists"):
        driver.execute_query("CREATE (:Service {name: 'cart'})")


def test_a_wrong_password_is_told_at_once(server: Neo4j) -> None:
    result = up(server, "wrong")
    assert result.exit_code == 1
    assert "error: connect to Neo4j" in result.output
    assert "unauthorized" in result.output


def upsert(driver: Driver, window: int, calls: int) -> None:
    row = {"caller": "frontend", "callee": "cart", "window": window, "window_s": 10, "calls": calls, "errors": 1}
    row |= {"rate_per_s": calls / 10, "error_ratio": 1 / calls, "p50_ms": 5.0, "p95_ms": 8.0, "p99_ms": 9.0}
    driver.execute_query(UPSERT.read_text(), rows=[row])


@given(st.permutations([(1000, 10), (1000, 30), (1010, 20), (1010, 25), (1000, 40)]), st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_older_window_never_overwrites_a_newer_one(
    driver: Driver, windows: list[tuple[int, int]], twice: bool
) -> None:
    """(window, calls) in any order, once or twice: the edge shows the newest window, with all its calls."""
    driver.execute_query("MATCH (n) DETACH DELETE n")
    for window, calls in windows * (2 if twice else 1):
        upsert(driver, window, calls)
    found = driver.execute_query("MATCH (a)-[c:CALLS]->(b) RETURN a.name, b.name, c.window, c.calls, c.rate_per_s")
    assert [record.values() for record in found.records] == [["frontend", "cart", 1010, 25, 2.5]]


def test_cookbook(driver: Driver) -> None:
    for caller, callee, rate in (
        ("frontend", "cart", 40.0),
        ("orders", "cart", 2.0),
        ("cart", "cart-db", 80.0),
        ("frontend", "orders", 5.0),
    ):
        call(driver, caller, callee, rate)
    assert {file.stem for file in COOKBOOK.glob("*.cypher")} == {"callers", "longest_path", "most_called"}
    assert answer(driver, "callers") == [["frontend", 40.0, 0.0, 20.0], ["orders", 2.0, 0.0, 20.0]]
    assert answer(driver, "longest_path")[0] == [["frontend", "orders", "cart", "cart-db"], 3]
    assert answer(driver, "most_called") == [["cart-db", 80.0, 1], ["cart", 42.0, 2], ["orders", 5.0, 1]]
