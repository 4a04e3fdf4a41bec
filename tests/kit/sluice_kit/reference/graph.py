"""The graph's edges as the reference has them, and as Neo4j has them."""

from neo4j import GraphDatabase

from sluice_kit.local_stack.driver import Stack
from sluice_kit.reference.truth import Reference

#: (caller, callee) -> start in s, calls and errors of a window.
Edges = dict[tuple[str, str], tuple[int, int, int]]


def newest_calls(reference: Reference) -> Edges:
    """Of the newest window of each edge, which is what the graph keeps."""
    edges = reference.call_edges()
    last = {(caller, callee): window for caller, callee, window in sorted(edges)}
    calls = {}
    for pair, window in last.items():
        row = edges[(*pair, window)]
        calls[pair] = (window, row["calls"], row["errors"])
    return calls


def calls_in_neo4j(stack: Stack, prefix: str) -> Edges:
    """Of callers whose names begin with `prefix`."""
    credentials = ("neo4j", stack.address["SLUICE_NEO4J_PASSWORD"])
    with GraphDatabase.driver(stack.address["SLUICE_NEO4J"], auth=credentials) as driver:
        records, _, _ = driver.execute_query(
            "MATCH (a:Service)-[r:CALLS]->(b:Service) WHERE a.name STARTS WITH $prefix "
            "RETURN a.name AS caller, b.name AS callee, r.window AS window, r.calls AS calls, r.errors AS errors",
            prefix=prefix,
        )
    return {
        (record["caller"], record["callee"]): (record["window"], record["calls"], record["errors"])
        for record in records
    }
