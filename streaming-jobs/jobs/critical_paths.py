"""The job `critical_paths`: the services that requests wait for, per root operation and window of the root span's end.

span_path        -> sums by path through the services             -> sum_paths by path            -> critical_paths
span_on_path     -> sums of the times of the services on them     -> sum_service_times by service -> path_services
span_trace_count -> causes: closed, late, incomplete                                              -> trace_counts
counted_traces   -> outcomes of spans                                                             -> ingest_counts

All sums are exact integers, the same for any order and grouping of the same traces. No window waits for a watermark:
each change of a sum becomes a new version of its row.
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
    """INSERT of the sum of each key's totals; `function` returns the table's values in one row."""
    summed = f"""(
            SELECT {keys(table)}, {function}(totals) AS s
            FROM {view}
            GROUP BY {keys(table)}
        )"""
    window_s = str(settings["path-window-ms"] // SECOND_MS)
    return insert(table, summed, "s.{}", seconds=True, window_s=window_s, version="s.traces")
