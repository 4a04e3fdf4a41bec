"""The job `concurrency`: time-weighted concurrency, completions and latency of every soft resource, per fine window.

messages -> span_windows: one message becomes partial rows -> sums by resource and bucket -> windows
                       \\-> outcomes of its spans -> ingest_counts
traces   -> client spans move, as partial rows with - and +, from a stand-in peer to the service they called -> sums

No bucket waits for a watermark: each change of a sum is written as a new version of its row.
"""

import accounts
import messages
import traces
from settings import Settings

NAME = "concurrency"
DECODED = "decoded_windows"
FUNCTIONS = {
    **traces.FUNCTIONS,
    "span_windows": "dev.sluice.flink.SpanWindows",
    "merge_latency": "dev.sluice.latency.MergeLatency",
}


def trace_rows(settings: Settings) -> list[str]:
    """Traces are assembled for this job only if peers are to come from them."""
    return ["moved"] if settings["peers-from-traces"] else []


def views(settings: Settings) -> dict[str, str]:
    """Each row of decoded_windows has one of its first three columns; the others are NULL."""
    decoded = {
        **messages.views(settings),
        "decoded_windows": """
        SELECT d.partial, d.counted, d.rejected, m.`partition`, m.`offset`
        FROM messages AS m,
             LATERAL TABLE(span_windows(m.message, m.record_time, m.repeated)) AS d (partial, counted, rejected)""",
    }
    counted = _partial("decoded_windows", "partial")
    if not settings["peers-from-traces"]:
        return {**decoded, "partial_windows": counted}
    moved = _partial("traces", "moved")
    return {**decoded, **traces.views(settings), "partial_windows": f"{counted} UNION ALL {moved}"}


def inserts(settings: Settings) -> list[str]:
    """A move may overtake, for a moment, what it takes back: a sum below nothing is written as nothing then."""
    return [
        f"""
        INSERT INTO windows
        SELECT side, service, peer, instance, bucket, {settings["bucket-ms"]},
               GREATEST(SUM(busy_ns), 0), GREATEST(SUM(completions), 0), GREATEST(SUM(errors), 0),
               merge_latency(latency), SUM(contributions)
        FROM partial_windows
        GROUP BY side, service, peer, instance, bucket""",
        accounts.counts(NAME, DECODED),
    ]


KEY = ("side", "service", "peer", "instance", "bucket")
SUMS = ("busy_ns", "completions", "errors", "latency", "contributions")


def _partial(view: str, column: str) -> str:
    """The rows of `view.column`, each of which is a part of a sum."""
    columns = ", ".join(f"v.{column}.{name} AS {name}" for name in KEY + SUMS)
    return f"SELECT {columns} FROM {view} AS v WHERE v.{column} IS NOT NULL"
