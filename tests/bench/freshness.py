"""How old is what stores show while 20,000 spans/s arrive as time goes by: fine windows, call graph, critical paths.

All jobs in one Flink job with their defaults, as `make up` runs them. Spans are sent as they end, and name a peer's
address.
"""

import statistics
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from neo4j import GraphDatabase

from bench import spans_topic
from bench.cluster import RUN, Cluster, cluster
from bench.made_spans import Shape
from stack.flink import JOBS

SPANS_PER_S = 20_000.0
#: Seconds that are left out at the start, and that count.
WHOLE_S, QUICK_S = (30.0, 60.0), (10.0, 25.0)
SETTLED_S = 12.0
LOOK_S = 0.5
#: Of the call graph and of critical paths.
WINDOW_S = 10
BAR_FINE_MS, BAR_GRAPH_MS, BAR_PATHS_MS = 400, 4_000, 8_000
Rows = list[tuple[str, str]]
#: What is counted apart, as the caller and callee of an edge, and the start of its window in s.
Key = tuple[str, int]


@dataclass(frozen=True)
class Look:
    """What a store showed at a time (Unix, s): of the newest window of `what` that many calls, or traces."""

    at_s: float
    what: str
    window_s: int
    count: int


def run(quick: bool = False) -> Rows:
    """Rows (what, figure) for the table."""
    with cluster(graph=True) as up:
        return freshness(up, quick)


def freshness(up: Cluster, quick: bool = False) -> Rows:
    warm_s, seconds = QUICK_S if quick else WHOLE_S
    up.fresh_taskmanager()
    spans_topic.renew(up.kafka, **spans_topic.BROKERS_TIME)
    job = up.submit(RUN, *JOBS)
    begun = time.time()
    words = (up.kafka, Shape(spans_per_s=SPANS_PER_S), warm_s + seconds)
    sending = threading.Thread(target=spans_topic.trickle, args=words)
    sending.start()
    graph, paths = _looks(up, begun + warm_s, begun + warm_s + seconds)
    sending.join()
    took_s = time.time() - begun
    time.sleep(SETTLED_S)
    up.cancel(job)
    # Windows of which every span was sent.
    whole = range(int(begun // WINDOW_S + 1) * WINDOW_S, int(begun + warm_s + seconds) - WINDOW_S + 1)
    between = (begun + warm_s, begun + warm_s + seconds)
    at = f"{SPANS_PER_S:,.0f} spans/s"
    return [
        (f"age of a fine window at its last write, {at}, server side (bar: median {BAR_FINE_MS} ms)",
         _fine(up, "server", between)),
        ("the same, client side, of calls to addresses that traces resolve", _fine(up, "client", between)),
        (f"age of the newest call that the graph in Neo4j shows (bar: median {BAR_GRAPH_MS} ms)",
         _shown(ages_ms(graph, _totals(up, "call_edges", "concat(caller, '>', callee)", "calls", whole)))),
        (f"age of the newest root that ClickHouse's critical paths show (bar: median {BAR_PATHS_MS} ms)",
         _shown(ages_ms(paths, _totals(up, "critical_paths", "root_service", "traces", whole)))),
        ("sent within", f"{took_s:.0f} s, of {warm_s + seconds:.0f}"),
    ]  # fmt: skip


def ages_ms(looks: Iterable[Look], totals: Mapping[Key, int]) -> list[float]:
    """How long before each look the newest that it shows came, where a window's come evenly within it.

    totals: how many each window has in the end; looks at windows that are not in it are left out.
    """
    results = []
    for look in looks:
        if total := totals.get((look.what, look.window_s)):
            results.append(1000 * (look.at_s - look.window_s - WINDOW_S * look.count / total))
    return results


def _looks(up: Cluster, from_s: float, to_s: float) -> tuple[list[Look], list[Look]]:
    """Of the graph and of the paths."""
    graph: list[Look] = []
    paths: list[Look] = []
    credentials = ("neo4j", up.addresses["SLUICE_NEO4J_PASSWORD"])
    # Until the first edge is there, Neo4j warns that nobody knows its properties.
    quiet = {"notifications_min_severity": "OFF"}
    with GraphDatabase.driver(up.addresses["SLUICE_NEO4J"], auth=credentials, **quiet) as driver:
        while (now := time.time()) < to_s:
            if now < from_s:
                time.sleep(from_s - now)
                continue
            records, _, _ = driver.execute_query(
                "MATCH (a:Service)-[r:CALLS]->(b:Service) "
                "RETURN a.name + '>' + b.name AS edge, r.window AS window, r.calls AS calls"
            )
            at_s = time.time()
            graph += [Look(at_s, record["edge"], record["window"], record["calls"]) for record in records]
            answer = up.query(
                "SELECT root_service, toUnixTimestamp(max(window)), argMax(traces, window) FROM ("
                "SELECT root_service, window, sum(traces) AS traces FROM critical_paths FINAL GROUP BY ALL"
                ") GROUP BY root_service"
            )
            at_s = time.time()
            paths += [Look(at_s, item[0], int(item[1]), int(item[2])) for item in map(str.split, answer.splitlines())]
            time.sleep(LOOK_S)
    return graph, paths


def _totals(up: Cluster, table: str, what: str, count: str, windows: range) -> dict[Key, int]:
    answer = up.query(
        f"SELECT {what} AS what, toUnixTimestamp(window) AS start, sum({count}) FROM {table} FINAL GROUP BY what, start"
    )
    rows = [line.split("\t") for line in answer.splitlines()]
    return {(what, int(start)): int(total) for what, start, total in rows if int(start) in windows}


def _shown(ages: list[float]) -> str:
    if len(ages) < 2:
        return "no look fell into a whole window: measure for longer"
    return f"median {statistics.median(ages):.0f} ms, 95th percentile {statistics.quantiles(ages, n=20)[-1]:.0f} ms"


def _fine(up: Cluster, side: str, between: tuple[float, float]) -> str:
    """`written` of a row is ClickHouse's own clock at its last version."""
    begin, end = between
    ages = up.query(
        "SELECT arrayStringConcat(arrayMap(age -> toString(round(age)), quantiles(0.5, 0.95)(age_ms)), ' ') FROM ("
        "SELECT toUnixTimestamp64Milli(written) - toUnixTimestamp64Milli(bucket) - bucket_ms AS age_ms"
        " FROM windows FINAL"
        f" WHERE side = '{side}' AND completions > 0 AND bucket BETWEEN {begin:.0f} AND {end:.0f})"
    )
    median, late = ages.split()
    return f"median {median} ms, 95th percentile {late} ms"


def main() -> None:
    for what, figure in run("--quick" in sys.argv):
        print(f"{what}: {figure}")


if __name__ == "__main__":
    main()
