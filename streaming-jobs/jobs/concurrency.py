"""The job `concurrency`: time-weighted concurrency, completions and latency of every soft resource, per fine window.

span_partial -> additions of messages -> sums by resource and bucket -> windows
span_moved   -> changes by whole traces, as partial rows with - and +: client spans move from a stand-in peer to the
                service that they called; nested spans leave the sums
span_left, span_nested -> spans that are not counted, by rule -> spans_left_out
span_delay   -> delays of the spans of each instance -> least and sum by instance and window -> instance_clocks
span_sampling -> what spans say and trace ids show of samplers -> sums and bounds by service -> service_sampling
span_counted_window -> outcomes of spans -> ingest_counts

No bucket waits for a watermark: each change of a sum becomes a new version of its row.
"""

import accounts
import spans
from settings import SECOND_MS, Settings
from upserts import insert_sums

NAME = "concurrency"
REJECTED = spans.REJECTED
# Of the log's time, as in Rows.java.
DELAY_WINDOW_S = "10"
FUNCTIONS = {"merge_latency": "dev.sluice.latency.MergeLatency"}


def span_tables(settings: Settings) -> list[str]:
    """Views of the spans. The job needs traces only if peers come from them."""
    return ["partial", "left", *(["moved", "nested"] if settings["peers-from-traces"] else []), "delay", "sampling"]


def views(settings: Settings) -> dict[str, str]:
    parts = {"partial_windows": ("partial", "moved"), "partial_left_out": ("left", "nested")}
    wanted = span_tables(settings)
    return {
        view: " UNION ALL ".join(f"SELECT * FROM span_{table}" for table in tables if table in wanted)
        for view, tables in parts.items()
    }


def inserts(settings: Settings) -> list[str]:
    """A move may overtake the rows that it takes back. The sum is then below 0 for a moment, and is written as 0."""
    return [
        insert_sums(
            "windows",
            "partial_windows",
            "GREATEST(SUM({}), 0)",
            bucket_ms=str(settings["bucket-ms"]),
            version="SUM(contributions)",
        ),
        insert_sums(
            "spans_left_out",
            "partial_left_out",
            window_s=str(settings["sample-window-ms"] // SECOND_MS),
            version="SUM(spans)",
        ),
        insert_sums(
            "instance_clocks",
            "span_delay",
            window_s=DELAY_WINDOW_S,
            least_ms="MIN(least_ms)",
            version="SUM(spans)",
        ),
        insert_sums(
            "service_sampling",
            "span_sampling",
            window_s=DELAY_WINDOW_S,
            **{name: f"MAX({name})" for name in ("most_64", "most_63", "most_56", "most_32", "most_head")},
            **{name: f"MIN({name})" for name in ("least_64", "least_head")},
            version="SUM(spans)",
        ),
        accounts.counts(NAME, spans.COUNTED_WINDOWS),
    ]
