"""The job `concurrency`: time-weighted concurrency, completions and latency of every soft resource, per fine window.

span_partial -> what messages add -> sums by resource and bucket -> windows
span_moved   -> client spans move, as partial rows with - and +, from a stand-in peer to the service they called -> sums
span_delay   -> how late the spans of each instance came -> least and sum by instance and window -> instance_clocks
span_counted_window -> outcomes of spans -> ingest_counts

No bucket waits for a watermark: each change of a sum is written as a new version of its row.
"""

import accounts
import spans
from settings import Settings
from upserts import insert_sums

NAME = "concurrency"
REJECTED = spans.REJECTED
# Of the log's time, as in Rows.java.
DELAY_WINDOW_S = "10"
FUNCTIONS = {"merge_latency": "dev.sluice.latency.MergeLatency"}


def span_tables(settings: Settings) -> list[str]:
    """Traces are assembled for this job only if peers are to come from them."""
    return [*_partials(settings), "delay"]


def _partials(settings: Settings) -> list[str]:
    return ["partial", "moved"] if settings["peers-from-traces"] else ["partial"]


def views(settings: Settings) -> dict[str, str]:
    parts = " UNION ALL ".join(f"SELECT * FROM span_{table}" for table in _partials(settings))
    return {"partial_windows": parts}


def inserts(settings: Settings) -> list[str]:
    """A move may overtake, for a moment, what it takes back: a sum below nothing is written as nothing then."""
    return [
        insert_sums(
            "windows",
            "partial_windows",
            "GREATEST(SUM({}), 0)",
            bucket_ms=str(settings["bucket-ms"]),
            version="SUM(contributions)",
        ),
        insert_sums(
            "instance_clocks",
            "span_delay",
            window_s=DELAY_WINDOW_S,
            least_ms="MIN(least_ms)",
            version="SUM(spans)",
        ),
        accounts.counts(NAME, spans.COUNTED_WINDOWS),
    ]
