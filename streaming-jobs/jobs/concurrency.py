"""The job `concurrency`: time-weighted concurrency, completions and latency of every soft resource, per fine window.

otlp_spans -> span_windows: one message becomes partial rows -> sums by resource and bucket -> windows
                         \\-> outcomes of its spans -> ingest_counts

No bucket waits for a watermark: each change of a sum is written as a new version of its row.
"""

import accounts
from settings import Settings

NAME = "concurrency"
DECODED = "decoded_windows"
FUNCTIONS = {
    "span_windows": "dev.sluice.flink.SpanWindows",
    "merge_latency": "dev.sluice.latency.MergeLatency",
}


def views(settings: Settings) -> dict[str, str]:
    """Each row of decoded_windows has one of its first three columns; the others are NULL."""
    return {
        "decoded_windows": """
        SELECT d.partial, d.counted, d.rejected, s.`partition`, s.`offset`
        FROM otlp_spans AS s,
             LATERAL TABLE(span_windows(s.message, s.record_time)) AS d (partial, counted, rejected)""",
        "partial_windows": """
        SELECT d.partial.side AS side, d.partial.service AS service, d.partial.peer AS peer,
               d.partial.instance AS instance, d.partial.bucket AS bucket, d.partial.busy_ns AS busy_ns,
               d.partial.completions AS completions, d.partial.errors AS errors, d.partial.latency AS latency,
               d.partial.contributions AS contributions
        FROM decoded_windows AS d WHERE d.partial IS NOT NULL""",
    }


def inserts(settings: Settings) -> list[str]:
    return [
        f"""
        INSERT INTO windows
        SELECT side, service, peer, instance, bucket, {settings["bucket-ms"]},
               SUM(busy_ns), SUM(completions), SUM(errors), merge_latency(latency), SUM(contributions)
        FROM partial_windows
        GROUP BY side, service, peer, instance, bucket""",
        accounts.counts(NAME, DECODED),
    ]
