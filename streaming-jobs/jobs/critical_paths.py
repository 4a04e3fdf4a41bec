"""The job `critical_paths`: what requests wait for, per root operation and window of the root span's end.

messages -> trace_fragments: one message becomes a row per trace -> closed_traces: traces, closed when quiet
           -> path: the way that a trace's critical path took    -> sum_paths by way             -> critical_paths
           \\-> on_path: the services on it and what they took    -> sum_service_times by service -> path_services
           \\-> trace_count: why traces were closed, came late, are incomplete                    -> trace_counts
           \\-> outcomes of its spans                                                             -> ingest_counts

All sums are exact integers, which any order and grouping of the same traces gives alike. No window waits for a
watermark: each change of a sum is written as a new version of its row.
"""

import accounts
import traces
from settings import SECOND_MS, Settings

NAME = "critical_paths"
DECODED = traces.DECODED
TRACE_ROWS = ["path", "on_path", "trace_count"]
FUNCTIONS = {
    **traces.FUNCTIONS,
    "sum_paths": "dev.sluice.flink.SumPaths",
    "sum_service_times": "dev.sluice.flink.SumServiceTimes",
}


def views(settings: Settings) -> dict[str, str]:
    return {
        **traces.views(settings),
        "paths": """
        SELECT t.path.root_service AS root_service, t.path.root_operation AS root_operation,
               t.path.complete AS complete, t.path.signature AS signature, t.path.window_start AS window_start,
               t.path.duration_ns AS duration_ns, t.path.trace_id AS trace_id
        FROM traces AS t WHERE t.path IS NOT NULL""",
        "services_on_paths": """
        SELECT t.on_path.root_service AS root_service, t.on_path.root_operation AS root_operation,
               t.on_path.complete AS complete, t.on_path.service AS service, t.on_path.window_start AS window_start,
               t.on_path.self_ns AS self_ns, t.on_path.upstream_ns AS upstream_ns,
               t.on_path.call_upstream_ns AS call_upstream_ns, t.on_path.wait_ns AS wait_ns,
               t.on_path.blame_ns AS blame_ns, t.on_path.duration_ns AS duration_ns
        FROM traces AS t WHERE t.on_path IS NOT NULL""",
        "traces_by_cause": """
        SELECT t.trace_count.cause AS cause, t.trace_count.service AS service, t.trace_count.received AS received,
               t.trace_count.traces AS traces, t.trace_count.spans AS spans
        FROM traces AS t WHERE t.trace_count IS NOT NULL""",
    }


def inserts(settings: Settings) -> list[str]:
    """The version of a row is the number of contributions, here of traces."""
    window_s = settings["path-window-ms"] // SECOND_MS
    return [
        f"""
        INSERT INTO critical_paths
        SELECT root_service, root_operation, complete, signature, {window_s}, TO_TIMESTAMP_LTZ(window_start, 0),
               s.traces, s.sum_ns, s.sum_ns2, s.latency, s.slowest_ns, s.slowest_trace_id, s.median_trace_id, s.traces
        FROM (
            SELECT root_service, root_operation, complete, signature, window_start,
                   sum_paths(duration_ns, trace_id) AS s
            FROM paths
            GROUP BY root_service, root_operation, complete, signature, window_start
        )""",
        f"""
        INSERT INTO path_services
        SELECT root_service, root_operation, complete, service, {window_s}, TO_TIMESTAMP_LTZ(window_start, 0),
               s.traces, s.self_sum, s.self_sum2, s.e2e_sum, s.e2e_sum2, s.self_x_e2e, s.upstream_sum,
               s.upstream_sum2, s.call_upstream_sum, s.wait_sum, s.blame_sum, s.blame_sum2, s.blame_x_e2e,
               s.self_latency, s.upstream_latency, s.call_upstream_latency, s.blame_latency, s.traces
        FROM (
            SELECT root_service, root_operation, complete, service, window_start,
                   sum_service_times(self_ns, upstream_ns, call_upstream_ns, wait_ns, blame_ns, duration_ns) AS s
            FROM services_on_paths
            GROUP BY root_service, root_operation, complete, service, window_start
        )""",
        """
        INSERT INTO trace_counts
        SELECT cause, service, received, SUM(traces), SUM(spans), SUM(traces)
        FROM traces_by_cause
        GROUP BY cause, service, received""",
        accounts.counts(NAME, traces.COUNTED),
    ]
