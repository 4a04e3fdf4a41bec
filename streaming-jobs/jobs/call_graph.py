"""The job `call_graph`: who calls whom, how often and how fast, per window of the callee's span end.

otlp_spans -> trace_fragments: one message becomes a row per trace -> call_edges_of_traces: traces, closed when quiet
           -> sums by edge and window -> call_edges (ClickHouse), and the newest window of each edge -> CALLS (Neo4j)
           \\-> outcomes of its spans -> ingest_counts
"""

import accounts
from settings import SECOND_MS, Settings

NAME = "call_graph"
DECODED = "decoded_traces"
FUNCTIONS = {
    "trace_fragments": "dev.sluice.flink.TraceFragments",
    "call_edges_of_traces": "dev.sluice.flink.CallEdgesOfTraces",
    "merge_latency": "dev.sluice.latency.MergeLatency",
    "latency_quantile_ms": "dev.sluice.latency.LatencyQuantile",
}


def views(settings: Settings) -> dict[str, str]:
    return {
        "decoded_traces": """
        SELECT d.fragment, d.counted, d.rejected, s.record_time, s.`partition`, s.`offset`
        FROM otlp_spans AS s,
             LATERAL TABLE(trace_fragments(s.message, s.record_time)) AS d (fragment, counted, rejected)""",
        # The ticker's rows are dropped, its watermarks stay. The planner must not see that no tick is negative.
        "fragments": """
        SELECT d.fragment.trace_id AS trace_id, d.fragment.spans AS spans, d.fragment.span_count AS span_count,
               d.record_time AS record_time
        FROM decoded_traces AS d WHERE d.fragment IS NOT NULL
        UNION ALL
        SELECT CAST(NULL AS BYTES), CAST(NULL AS BYTES), tick, tick_time
        FROM ticker WHERE tick < 0""",
        "closed_traces": """
        SELECT edge, counted FROM call_edges_of_traces(
            input => TABLE fragments PARTITION BY trace_id,
            on_time => DESCRIPTOR(record_time),
            uid => 'call-edges-of-traces'
        )""",
        "edges": f"""
        SELECT caller, callee, window_start, {settings["edge-window-ms"] // SECOND_MS} AS window_s,
               SUM(calls) AS calls, SUM(errors) AS errors, merge_latency(latency) AS latency,
               SUM(contributions) AS version
        FROM (
            SELECT t.edge.caller AS caller, t.edge.callee AS callee, t.edge.window_start AS window_start,
                   t.edge.calls AS calls, t.edge.errors AS errors, t.edge.latency AS latency,
                   t.edge.contributions AS contributions
            FROM closed_traces AS t WHERE t.edge IS NOT NULL
        )
        GROUP BY caller, callee, window_start""",
        "counted_traces": """
        SELECT counted FROM decoded_traces
        UNION ALL
        SELECT counted FROM closed_traces""",
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
        accounts.counts(NAME, "counted_traces"),
    ]
