"""The job `call_graph`: calls between services with rates and latencies, the services and instances that occur, call
trees of roots, and containers' own times, per window.

span_edge -> sums by edge and window of the callee's end -> call_edges (ClickHouse)
          -> the newest window of each edge -> CALLS (Neo4j)
span_tree -> counts by root operation, window of the root's end, and tree -> call_trees (ClickHouse)
          -> the most frequent tree of each root operation in its newest window -> Operation (Neo4j)
span_container_call -> sums by two containers and window of the callee's end -> container_calls (ClickHouse)
span_own  -> sums by container and window of the request's end -> container_own_time (ClickHouse)
span_seen -> once by service, instance, host, operation and window -> Service, Instance, Host, Operation (Neo4j)
counted_traces -> outcomes of spans -> ingest_counts
"""

import accounts
import spans
from settings import SECOND_MS, Settings
from upserts import insert, insert_sums

NAME = "call_graph"
REJECTED = spans.REJECTED
SPAN_TABLES = ["edge", "container_call", "own", "seen", "tree"]
FUNCTIONS = {
    "merge_latency": "dev.sluice.latency.MergeLatency",
    "latency_quantile_ms": "dev.sluice.latency.LatencyQuantile",
    "most_frequent": "dev.sluice.trees.MostFrequent",
}


def views(settings: Settings) -> dict[str, str]:
    return {
        **spans.trace_views(),
        "edges": f"""
        SELECT caller, callee, window_start, {settings["edge-window-ms"] // SECOND_MS} AS window_s,
               SUM(calls) AS calls, SUM(errors) AS errors, merge_latency(latency) AS latency,
               SUM(contributions) AS version
        FROM span_edge
        GROUP BY caller, callee, window_start""",
        "frequent_trees": """
        SELECT service, operation, window_start, most_frequent(tree, traces) AS most
        FROM span_tree
        GROUP BY service, operation, window_start""",
    }


def inserts(settings: Settings) -> list[str]:
    return [
        insert("call_edges", "edges", seconds=True),
        """
        INSERT INTO calls
        SELECT caller, callee, window_start, window_s, calls, errors,
               CAST(calls AS DOUBLE) / window_s, CAST(errors AS DOUBLE) / calls,
               latency_quantile_ms(latency, 0.50), latency_quantile_ms(latency, 0.95),
               latency_quantile_ms(latency, 0.99)
        FROM edges""",
        insert_sums(
            "call_trees",
            "span_tree",
            seconds=True,
            root_service="service",
            root_operation="operation",
            window_s=str(settings["edge-window-ms"] // SECOND_MS),
            version="SUM(traces)",
        ),
        insert_sums(
            "container_calls",
            "span_container_call",
            seconds=True,
            window_s=str(settings["edge-window-ms"] // SECOND_MS),
            version="SUM(calls)",
        ),
        """
        INSERT INTO operation_trees
        SELECT f.service, f.operation, f.window_start, f.most.text, f.most.occurrences, f.most.total,
               CAST(f.most.occurrences AS DOUBLE) / f.most.total
        FROM frequent_trees AS f""",
        insert_sums(
            "container_own_time",
            "span_own",
            seconds=True,
            window_s=str(settings["sample-window-ms"] // SECOND_MS),
            version="SUM(requests)",
        ),
        # DISTINCT writes each sighting once: there is nothing to sum.
        """
        INSERT INTO seen
        SELECT DISTINCT service, instance, host, operation, window_start
        FROM span_seen""",
        accounts.counts(NAME, spans.COUNTED_TRACES),
    ]
