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
from upserts import insert, insert_sums, keys

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
    return [
        _sums("critical_paths", "sum_paths", "span_path", settings),
        _sums("path_services", "sum_service_times", "span_on_path", settings),
        insert_sums("trace_counts", "span_trace_count", version="SUM(traces)"),
        accounts.counts(NAME, spans.COUNTED_TRACES),
    ]


def _sums(table: str, function: str, view: str, settings: Settings) -> str:
    """INSERT of what the function, which gives the table's values in one row, makes of each key's totals."""
    summed = f"""(
            SELECT {keys(table)}, {function}(totals) AS s
            FROM {view}
            GROUP BY {keys(table)}
        )"""
    window_s = str(settings["path-window-ms"] // SECOND_MS)
    return insert(table, summed, "s.{}", seconds=True, window_s=window_s, version="s.traces")
