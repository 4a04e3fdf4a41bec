"""The job `concurrency`: time-weighted concurrency, completions and latency of every soft resource, per fine window.

span_partial -> what messages add -> sums by resource and bucket -> windows
span_moved   -> client spans move, as partial rows with - and +, from a stand-in peer to the service they called -> sums
span_counted_window -> outcomes of spans -> ingest_counts

No bucket waits for a watermark: each change of a sum is written as a new version of its row.
"""

import accounts
import spans
from settings import Settings
from upserts import insert_sums

NAME = "concurrency"
REJECTED = spans.REJECTED
FUNCTIONS = {"merge_latency": "dev.sluice.latency.MergeLatency"}


def span_tables(settings: Settings) -> list[str]:
    """Traces are assembled for this job only if peers are to come from them."""
    return ["partial", "moved"] if settings["peers-from-traces"] else ["partial"]


def views(settings: Settings) -> dict[str, str]:
    parts = " UNION ALL ".join(f"SELECT * FROM span_{table}" for table in span_tables(settings))
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
        accounts.counts(NAME, spans.COUNTED_WINDOWS),
    ]
