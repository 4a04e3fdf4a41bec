"""The job `call_graph`: who calls whom, how often and how fast, per window of the callee's span end.

messages -> trace_fragments: one message becomes a row per trace -> closed_traces: traces, closed when quiet
           -> sums by edge and window -> call_edges (ClickHouse), and the newest window of each edge -> CALLS (Neo4j)
           \\-> outcomes of its spans -> ingest_counts
"""

import accounts
import traces
from settings import SECOND_MS, Settings

NAME = "call_graph"
DECODED = traces.DECODED
TRACE_ROWS = ["edge"]
FUNCTIONS = {
    **traces.FUNCTIONS,
    "merge_latency": "dev.sluice.latency.MergeLatency",
    "latency_quantile_ms": "dev.sluice.latency.LatencyQuantile",
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
        accounts.counts(NAME, traces.COUNTED),
    ]
