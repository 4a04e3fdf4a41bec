"""The job `critical_paths`: what requests wait for, per root operation and window of the root span's end.

span_path        -> sums by the way that critical paths took      -> sum_paths by way             -> critical_paths
span_on_path     -> sums of what the services on them took        -> sum_service_times by service -> path_services
span_trace_count -> why traces were closed, came late, are incomplete                             -> trace_counts
counted_traces   -> outcomes of spans                                                             -> ingest_counts

All sums are exact integers, which any order and grouping of the same traces gives alike. No window waits for a
watermark: each change of a sum is written as a new version of its row.
"""

import accounts
import spans
from settings import SECOND_MS, Settings

NAME = "critical_paths"
REJECTED = spans.REJECTED
SPAN_TABLES = ["path", "on_path", "trace_count"]
FUNCTIONS = {
    "sum_paths": "dev.sluice.flink.SumPaths",
    "sum_service_times": "dev.sluice.flink.SumServiceTimes",
}


def views(settings: Settings) -> dict[str, str]:
    return spans.trace_views()


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
                   sum_paths(totals) AS s
            FROM span_path
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
                   sum_service_times(totals) AS s
            FROM span_on_path
            GROUP BY root_service, root_operation, complete, service, window_start
        )""",
        """
        INSERT INTO trace_counts
        SELECT cause, service, received, SUM(traces), SUM(spans), SUM(traces)
        FROM span_trace_count
        GROUP BY cause, service, received""",
        accounts.counts(NAME, spans.COUNTED_TRACES),
    ]
