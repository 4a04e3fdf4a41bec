"""Constraints and cookbook on a real Neo4j."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import ConstraintError, DatabaseError, TransientError

import migrate.__main__ as command
from migrate.statements import read
from sluice_kit.hostile import TEXTS
from sluice_kit.servers.neo4j import Neo4j, neo4j

pytestmark = pytest.mark.timeout(300)  # a loaded machine takes long to start the server

COOKBOOK = Path(__file__).resolve().parents[1] / "neo4j/cookbook"
# The writer's own statements: what stands in the graph is decided there.
JOBS = Path(__file__).resolve().parents[2] / "streaming-jobs/jobs"
HOUR_S = 3600
MORE = ("\\", "a\\", "\\'", "a\tb", "a\nb", "$rows", "{name: 'x'}", "'", '"', "`", "🧵", "..", 'x","service":"cart')
# The decoder of spans cuts names to 256 bytes.
NAMES = [name for name in dict.fromkeys((*TEXTS, *MORE)) if name and len(name.encode()) <= 256]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4j]:
    with neo4j(tmp_path_factory.mktemp("neo4j"), transaction_memory="16m") as running:
        yield running


def up(server: Neo4j, password: str = "") -> Any:
    with NamedTemporaryFile("w") as file:
        file.write(password or server.password)
        file.flush()
        words = ["up", "--only", "neo4j", "--neo4j", server.url, "--wait", "30"]
        return CliRunner().invoke(command.cli, words, env={"SLUICE_NEO4J_PASSWORD_FILE": file.name})


@pytest.fixture
def driver(server: Neo4j) -> Iterator[Driver]:
    assert up(server).exit_code == 0
    with GraphDatabase.driver(server.url, auth=("neo4j", server.password)) as driver:
        clear(driver)
        yield driver


def clear(driver: Driver) -> None:
    with driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 250 ROWS").consume()


def write(driver: Driver, name: str, rows: list[dict[str, Any]]) -> None:
    """As the sink does: upserts in one transaction; ageing is apart from that."""
    upsert(driver, name, rows)
    age(driver)


def upsert(driver: Driver, name: str, rows: list[dict[str, Any]]) -> None:
    driver.execute_query((JOBS / f"{name}.cypher").read_text(), rows=rows)


def removals() -> list[str]:
    return [statement.text for statement in read(JOBS / "age.cypher")[1:]]


def age(driver: Driver, limit: int = 1000) -> int:
    """As the sink does; how many transactions it took."""
    newest = driver.execute_query(read(JOBS / "age.cypher")[0].text).records[0].value()
    transactions = 0
    for removal in removals():
        removed = -1
        while removed:
            removed = driver.execute_query(removal, oldest=newest - HOUR_S, limit=limit).records[0].value()
            assert removed <= limit
            transactions += 1
    return transactions


def a_call(caller: str, callee: str, window: int, calls: int = 400, errors: int = 0) -> dict[str, Any]:
    row = {"caller": caller, "callee": callee, "window": window, "window_s": 10, "calls": calls, "errors": errors}
    return row | {
        "rate_per_s": calls / 10, "error_ratio": errors / calls, "p50_ms": 5.0, "p95_ms": 8.0, "p99_ms": 20.0,
    }  # fmt: skip


def a_sight(service: str, instance: str, host: str, operation: str, window: int) -> dict[str, Any]:
    return {"service": service, "instance": instance, "host": host, "operation": operation, "window": window}


def a_tree(operation: str, window: int, tree: str, traces: int, total: int) -> dict[str, Any]:
    row = {"service": "frontend", "operation": operation, "window": window, "tree": tree}
    return row | {"traces": traces, "total": total, "share": traces / total}


def graph(driver: Driver) -> set[str]:
    """Everything in the graph but what describes a window: "Service cart 1000", "cart-0 ON h1 1000"."""
    nodes = "MATCH (n) RETURN labels(n)[0] + ' ' + coalesce(n.name, n.id) + ' ' + n.window"
    relations = """MATCH (a)-[r]->(b) RETURN coalesce(a.name, a.id) + ' ' + type(r) + ' ' + coalesce(b.name, b.id)
                   + coalesce(' ' + r.window, '')"""
    return {record.value() for query in (nodes, relations) for record in driver.execute_query(query).records}


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


@given(st.permutations([(1000, 10), (1000, 30), (1010, 20), (1010, 25), (1000, 40)]), st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_older_window_never_overwrites_a_newer_one(
    driver: Driver, windows: list[tuple[int, int]], twice: bool
) -> None:
    """(window, calls) in any order, once or twice: the edge shows the newest window, with all its calls."""
    clear(driver)
    for window, calls in windows * (2 if twice else 1):
        upsert(driver, "calls", [a_call("frontend", "cart", window, calls, 1)])
    edges = driver.execute_query("MATCH (a)-[c:CALLS]->(b) RETURN a.name, b.name, c.window, c.calls, c.rate_per_s")
    assert [record.values() for record in edges.records] == [["frontend", "cart", 1010, 25, 2.5]]


@given(st.permutations(range(4)), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sightings_and_trees_in_any_order(driver: Driver, order: list[int], at_once: bool, twice: bool) -> None:
    clear(driver)
    sights = [
        a_sight("cart", "cart-0", "h1", "read", 1000),
        a_sight("cart", "cart-0", "h2", "", 1010),  # moved
        a_sight("cart", "", "", "read", 1020),
        a_sight("cart", "cart-1", "", "", 990),
    ]
    trees = [a_tree("GET /", w, t, n, all_) for w, t, n, all_ in
             ((1000, "b", 9, 9), (1010, "a", 1, 1), (1010, "a", 2, 3), (1010, "b", 3, 5))]  # fmt: skip
    for rows, name in ((sights, "seen"), (trees, "trees")):
        shuffled = [rows[n] for n in order] * (2 if twice else 1)
        for batch in [shuffled] if at_once else [[row] for row in shuffled]:
            upsert(driver, name, batch)
        age(driver)  # of windows so near one another none goes, and after each batch it took most of the test
    assert graph(driver) == {
        "Service cart 1020", "Service frontend 1010", "Operation read 1020", "read OF cart",
        "Instance cart-0 1010", "cart-0 OF cart", "Host h1 1000", "Host h2 1010", "cart-0 ON h1 1000",
        "cart-0 ON h2 1010", "Instance cart-1 990", "cart-1 OF cart", "Operation GET / 1010", "GET / OF frontend",
    }  # fmt: skip
    (root,) = driver.execute_query("MATCH (o:Operation {name: 'GET /'}) RETURN properties(o)").records
    expected = {"tree": "b", "tree_share": 0.6, "tree_traces": 3, "tree_total": 5, "tree_window": 1010}
    assert root.value() == {"service": "frontend", "name": "GET /", "window": 1010} | expected


def test_what_is_unseen_for_the_maximum_age_goes(driver: Driver) -> None:
    then, now = 10_000, 10_000 + HOUR_S
    for window in (then, then + 10):
        write(driver, "seen", [a_sight("old", "old-0", "h1", "work", window)])
    write(driver, "seen", [a_sight("cart", "cart-0", "h1", "read", then)])
    write(driver, "calls", [a_call("old", "cart", then), a_call("cart", "db", then)])
    write(driver, "trees", [a_tree("GET /", then, "{}", 1, 1)])

    # Exactly the maximum age: nothing goes. cart-1 is the newest there is.
    before = graph(driver)
    write(driver, "seen", [a_sight("cart", "cart-1", "h2", "write", now)])
    fresh = {"Instance cart-1 13600", "cart-1 OF cart", "Host h2 13600", "cart-1 ON h2 13600"}
    fresh |= {"Operation write 13600", "write OF cart", "Service cart 13600"}
    assert graph(driver) == before - {"Service cart 10000"} | fresh

    # 10 s later what was seen in window `then` goes, and what was seen in the next stays.
    write(driver, "calls", [a_call("frontend", "cart", now + 10)])
    calls = {"Service frontend 13610", "Service cart 13610", "frontend CALLS cart 13610"}
    old = {"Service old 10010", "Operation work 10010", "work OF old", "Instance old-0 10010", "old-0 OF old"}
    old |= {"Host h1 10010", "old-0 ON h1 10010"}
    assert graph(driver) == (fresh - {"Service cart 13600"}) | calls | old

    # Old spans that are replayed are written, remove nothing that is newer, and go.
    write(driver, "seen", [a_sight("old", "old-1", "h9", "work", then - 500), a_sight("cart", "cart-1", "h1", "x", 7)])
    write(driver, "calls", [a_call("old", "cart", then - 500)])
    assert graph(driver) == (fresh - {"Service cart 13600"}) | calls | old

    write(driver, "calls", [a_call("frontend", "cart", now + 20)])
    calls = {"Service frontend 13620", "Service cart 13620", "frontend CALLS cart 13620"}
    assert graph(driver) == (fresh - {"Service cart 13600"}) | calls


def test_a_tree_goes_before_an_operation_that_is_still_called(driver: Driver) -> None:
    write(driver, "trees", [a_tree("GET /", 10_000, "{}", 1, 1)])
    write(driver, "seen", [a_sight("frontend", "", "", "GET /", 10_010 + HOUR_S)])
    (operation,) = driver.execute_query("MATCH (o:Operation) RETURN properties(o)").records
    assert operation.value() == {"service": "frontend", "name": "GET /", "window": 10_010 + HOUR_S}


def test_ageing_finds_what_is_old_by_its_indexes(driver: Driver) -> None:
    driver.execute_query("CALL db.awaitIndexes(60)")
    scans = []
    for statement in read(JOBS / "age.cypher"):
        plan = driver.execute_query("EXPLAIN " + statement.text, oldest=0, limit=1).summary.plan
        scans += [name.split("@")[0] for name in operators(plan) if "Scan" in name or "Seek" in name]
    # The newest window is the last entry of an index.
    assert scans == [
        "NodeIndexScan", *["DirectedRelationshipIndexSeekByRange"] * 2, *["NodeIndexSeekByRange"] * 5
    ]  # fmt: skip
    assert "Limit" in str(driver.execute_query("EXPLAIN " + read(JOBS / "age.cypher")[0].text).summary.plan)


def test_ageing_needs_no_more_memory_than_a_small_transaction_has(driver: Driver) -> None:
    """The server of these tests takes 16 MiB for a transaction; 4,000 names and all about them need four times that."""
    many = 4_000
    rows = [a_sight(f"s{n}", f"i{n}", f"h{n}", f"o{n}", 10_000) for n in range(many)]
    with pytest.raises(TransientError, match="MemoryPoolOutOfMemoryError"), driver.session() as session:
        session.run((JOBS / "seen.cypher").read_text(), rows=rows).consume()
    for begin in range(0, many, 250):
        driver.execute_query((JOBS / "seen.cypher").read_text(), rows=rows[begin : begin + 250])
    with pytest.raises(TransientError, match="MemoryPoolOutOfMemoryError"), driver.session() as session:
        session.run("MATCH (n) DETACH DELETE n").consume()
    write(driver, "seen", [a_sight("cart", "", "", "", 10_010 + HOUR_S)])
    assert graph(driver) == {"Service cart 13610"}


def test_how_a_name_that_is_too_long_is_refused(driver: Driver) -> None:
    """The sink knows it by these words: the code alone stands for whatever breaks."""
    row = a_sight("cart", "", "", "x" * 10_000, 1000)
    with pytest.raises(DatabaseError, match=r"ExecutionFailed.*too large to index"), driver.session() as session:
        session.run((JOBS / "seen.cypher").read_text(), rows=[row]).consume()


def test_what_is_seen_while_it_is_being_removed_stays(driver: Driver) -> None:
    """Ageing waits for the lock of a writer who has not committed, and then finds that it is not old."""
    sights = [a_sight("cart", "cart-0", "h1", "read", 1000)]
    driver.execute_query((JOBS / "seen.cypher").read_text(), rows=sights)
    driver.execute_query((JOBS / "calls.cypher").read_text(), rows=[a_call("cart", "cart", 1000)])
    driver.execute_query((JOBS / "trees.cypher").read_text(), rows=[a_tree("GET /", 1000, "{}", 1, 1)])
    sightings = [a_sight("cart", "cart-0", "h1", "read", 9000), a_sight("frontend", "", "", "GET /", 9000)]
    with driver.session() as session, ThreadPoolExecutor() as threads:
        writer = session.begin_transaction()
        for name, rows in (
            ("seen", sightings),
            ("calls", [a_call("cart", "cart", 9000)]),
            ("trees", [a_tree("GET /", 9000, "{}", 1, 1)]),
        ):
            writer.run((JOBS / f"{name}.cypher").read_text(), rows=rows).consume()
        ageing = [threads.submit(driver.execute_query, removal, oldest=5000, limit=10) for removal in removals()]
        waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*)"
        # The last statement finds no service without relations.
        deadline = time.monotonic() + 120
        while driver.execute_query(waiting).records[0].value() < len(ageing) - 1:
            assert time.monotonic() < deadline, "ageing does not wait for the writer"
            time.sleep(0.1)
        writer.commit()
        assert [result.result().records[0].value() for result in ageing] == [0] * len(ageing)
    assert graph(driver) == {
        "Service cart 9000", "Operation read 9000", "read OF cart", "Instance cart-0 9000", "cart-0 OF cart",
        "Host h1 9000", "cart-0 ON h1 9000", "cart CALLS cart 9000", "Service frontend 9000", "Operation GET / 9000",
        "GET / OF frontend",
    }  # fmt: skip
    left = "MATCH (n) WHERE n.ageing IS NOT NULL OR EXISTS { ()-[r]->(n) WHERE r.ageing IS NOT NULL } RETURN count(n)"
    assert driver.execute_query(left).records[0].value() == 0


def operators(plan: dict[str, Any]) -> list[str]:
    return [plan["operatorType"], *(name for child in plan.get("children", []) for name in operators(child))]


TREE = (
    '{"service":"frontend","operation":"GET /","stages":[[{"service":"cart","operation":"read","stages":'
    '[[{"service":"cart-db"}]]},{"service":"orders","operation":"list"}]]}'
)


@pytest.fixture
def shop(driver: Driver) -> Driver:
    write(
        driver,
        "calls",
        [
            a_call("frontend", "cart", 1000, 400),
            a_call("orders", "cart", 1000, 20, errors=5),
            a_call("cart", "cart-db", 1000, 800, errors=8),
            a_call("frontend", "orders", 1000, 50),
        ],
    )
    write(
        driver,
        "seen",
        [
            a_sight("frontend", "frontend-0", "h1", "GET /", 1000),
            a_sight("frontend", "frontend-0", "h1", "GET /about", 1000),
            a_sight("cart", "cart-0", "h1", "read", 1000),
            a_sight("cart", "cart-1", "h2", "read", 1000),
            a_sight("orders", "orders-0", "h1", "list", 990),
            a_sight("orders", "orders-0", "h2", "list", 1000),  # moved
        ],
    )
    write(
        driver,
        "trees",
        [a_tree("GET /", 1000, TREE, 30, 40), a_tree("GET /about", 1000, '{"service":"frontend"}', 1, 1)],
    )
    return driver


ANSWERS: dict[str, list[list[Any]]] = {
    "callers": [["frontend", 40.0, 0.0, 20.0], ["orders", 2.0, 0.25, 20.0]],
    "all_callers": [["frontend", 1, ["frontend", "cart"]], ["orders", 1, ["orders", "cart"]]],
    "longest_path": [
        [["frontend", "orders", "cart", "cart-db"], 3],
        [["frontend", "cart", "cart-db"], 2],
    ],
    "most_called": [["cart-db", 80.0, 1], ["cart", 42.0, 2], ["orders", 5.0, 1]],
    "busiest_calls": [
        ["cart", "cart-db", 80.0, 0.01, 20.0],
        ["frontend", "cart", 40.0, 0.0, 20.0],
        ["frontend", "orders", 5.0, 0.0, 20.0],
        ["orders", "cart", 2.0, 0.25, 20.0],
    ],
    "failing_services": [
        ["cart", 5 / 420, 5, 420, ["orders"]],
        ["cart-db", 0.01, 8, 800, ["cart"]],
        ["orders", 0.0, 0, 50, []],
    ],
    "blast_radius": [["cart", 0.5, ["frontend", "orders"], ["frontend GET /"]]],
    "call_trees": [
        ["frontend", "GET /", 0.75, 30, TREE],
        ["frontend", "GET /about", 1.0, 1, '{"service":"frontend"}'],
    ],
    "shared_hosts": [["h1", ["cart", "frontend"], 2], ["h2", ["cart", "orders"], 2]],
    "instances": [["cart", 2, 2], ["frontend", 1, 1], ["orders", 1, 2]],
}


def test_the_cookbook_is_what_is_tested() -> None:
    assert {file.stem for file in COOKBOOK.glob("*.cypher")} == set(ANSWERS)


@pytest.mark.parametrize("recipe", ANSWERS)
def test_cookbook(shop: Driver, recipe: str) -> None:
    answers = answer(shop, recipe)
    if recipe == "instances":
        assert {row.pop().to_native().timestamp() for row in answers} == {1000}
    if recipe == "blast_radius":
        answers[0][2].sort()
    assert answers == ANSWERS[recipe]
    assert (COOKBOOK / f"{recipe}.cypher").read_text().splitlines()[0].startswith("// ")


def test_all_callers_reach_over_several_calls(shop: Driver) -> None:
    text = read(COOKBOOK / "all_callers.cypher")[0].text.replace("'cart'", "'cart-db'")
    answers = [record.values() for record in shop.execute_query(text).records]
    assert answers == [
        ["cart", 1, ["cart", "cart-db"]],
        ["frontend", 2, ["frontend", "cart", "cart-db"]],
        ["orders", 2, ["orders", "cart", "cart-db"]],
    ]


def test_names_are_written_and_found_as_they_are(driver: Driver) -> None:
    """Names that no honest sender of spans has change no statement."""
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
    (statement,) = read(COOKBOOK / "blast_radius.cypher")
    of_instance = statement.text.replace("'cart-0'", "$instance")
    for name in NAMES:
        (record,) = driver.execute_query(of_instance, instance=name).records
        assert record["service"] == name
        if name.isprintable():
            assert record["root_operations"] == [f"root {name}"]
