"""The job `call_graph`: who calls whom, how often and how fast, who is there, what roots wait for, and what containers
do themselves, per window.

messages -> trace_fragments: one message becomes a row per trace -> closed_traces: traces, closed when quiet
  edge -> sums by edge and window of the callee's end -> call_edges (ClickHouse)
       -> the newest window of each edge -> CALLS (Neo4j)
  tree -> counts by root operation, window of the root's end, and tree -> call_trees (ClickHouse)
       -> the most frequent tree of each root operation in its newest window -> Operation (Neo4j)
  own  -> sums by container and window of the request's end -> container_own_time (ClickHouse)
  seen -> once by service, instance, host, operation and window -> Service, Instance, Host, Operation (Neo4j)
  outcomes of its spans -> ingest_counts
"""

import accounts
import traces
from settings import SECOND_MS, Settings

NAME = "call_graph"
DECODED = traces.DECODED
TRACE_ROWS = ["edge", "own", "seen", "tree"]
FUNCTIONS = {
    **traces.FUNCTIONS,
    "merge_latency": "dev.sluice.latency.MergeLatency",
    "latency_quantile_ms": "dev.sluice.latency.LatencyQuantile",
    "most_frequent": "dev.sluice.trees.MostFrequent",
}


def views(settings: Settings) -> dict[str, str]:
    return {
        **traces.views(settings),
        "edges": f"""
        SELECT caller, callee, window_start, {settings["edge-window-ms"] // SECOND_MS} AS window_s,
               SUM(calls) AS calls, SUM(errors) AS errors, merge_latency(latency) AS latency,
               SUM(contributions) AS version
        FROM (
            SELECT t.edge.caller AS caller, t.edge.callee AS callee, t.edge.window_start AS window_start,
                   t.edge.calls AS calls, t.edge.errors AS errors, t.edge.latency AS latency,
                   t.edge.contributions AS contributions
            FROM traces AS t WHERE t.edge IS NOT NULL
        )
        GROUP BY caller, callee, window_start""",
        "root_trees": """
        SELECT t.tree.service AS service, t.tree.operation AS operation, t.tree.window_start AS window_start,
               t.tree.tree AS tree
        FROM traces AS t WHERE t.tree IS NOT NULL""",
        "own_times": """
        SELECT t.own.service AS service, t.own.instance AS instance, t.own.host AS host,
               t.own.window_start AS window_start, t.own.requests AS requests, t.own.errors AS errors,
               t.own.ln_sum AS ln_sum, t.own.ln_sum2 AS ln_sum2, t.own.latency AS latency
        FROM traces AS t WHERE t.own IS NOT NULL""",
        "frequent_trees": """
        SELECT service, operation, window_start, most_frequent(tree) AS most
        FROM root_trees
        GROUP BY service, operation, window_start""",
    }


def inserts(settings: Settings) -> list[str]:
    return [
        """
        INSERT INTO call_edges
        SELECT caller, callee, TO_TIMESTAMP_LTZ(window_start, 0), window_s, calls, errors, latency, version
        FROM edges""",
        """
        INSERT INTO calls
        SELECT caller, callee, window_start, window_s, calls, errors,
               CAST(calls AS DOUBLE) / window_s, CAST(errors AS DOUBLE) / calls,
               latency_quantile_ms(latency, 0.50), latency_quantile_ms(latency, 0.95),
               latency_quantile_ms(latency, 0.99)
        FROM edges""",
        f"""
        INSERT INTO call_trees
        SELECT service, operation, TO_TIMESTAMP_LTZ(window_start, 0), {settings["edge-window-ms"] // SECOND_MS},
               tree, COUNT(*), COUNT(*)
        FROM root_trees
        GROUP BY service, operation, window_start, tree""",
        """
        INSERT INTO operation_trees
        SELECT f.service, f.operation, f.window_start, f.most.text, f.most.occurrences, f.most.total,
               CAST(f.most.occurrences AS DOUBLE) / f.most.total
        FROM frequent_trees AS f""",
        f"""
        INSERT INTO container_own_time
        SELECT service, instance, host, TO_TIMESTAMP_LTZ(window_start, 0), {settings["sample-window-ms"] // SECOND_MS},
               SUM(requests), SUM(errors), SUM(ln_sum), SUM(ln_sum2), merge_latency(latency), SUM(requests)
        FROM own_times
        GROUP BY service, instance, host, window_start""",
        # A window that was seen is written once: there is nothing to sum.
        """
        INSERT INTO seen
        SELECT DISTINCT t.seen.service, t.seen.instance, t.seen.host, t.seen.operation, t.seen.window_start
        FROM traces AS t WHERE t.seen IS NOT NULL""",
        accounts.counts(NAME, traces.COUNTED),
    ]
