"""The job `container_latency`: how the latency of each container is distributed, per window of the request's end.

messages   -> container_latencies: one message becomes partial samples -> sums by container and window
           -> container_latency (count, moments of ln(latency), histogram)
           \\-> outcomes of its spans -> ingest_counts

These are the samples of the Microns latency model (section 5.4). What the host and the container were busy with at the
time is the job `resource_metrics`; the view v_container_latency joins the two.
"""

import accounts
import messages
from settings import SECOND_MS, Settings

NAME = "container_latency"
DECODED = "decoded_samples"
FUNCTIONS = {
    **messages.FUNCTIONS,
    "container_latencies": "dev.sluice.flink.ContainerLatencies",
    "merge_latency": "dev.sluice.latency.MergeLatency",
}


def views(settings: Settings) -> dict[str, str]:
    """Each row of decoded_samples has one of its first three columns; the others are NULL."""
    return {
        **messages.views(settings),
        "decoded_samples": """
        SELECT d.sample, d.counted, d.rejected, m.`partition`, m.`offset`
        FROM messages AS m,
             LATERAL TABLE(container_latencies(m.message, m.record_time, m.repeated))
             AS d (sample, counted, rejected)""",
        "partial_samples": """
        SELECT d.sample.service AS service, d.sample.instance AS instance, d.sample.host AS host,
               d.sample.window_start AS window_start, d.sample.requests AS requests, d.sample.errors AS errors,
               d.sample.ln_sum AS ln_sum, d.sample.ln_sum2 AS ln_sum2, d.sample.latency AS latency
        FROM decoded_samples AS d WHERE d.sample IS NOT NULL""",
    }


def inserts(settings: Settings) -> list[str]:
    """The version is the number of requests."""
    return [
        f"""
        INSERT INTO container_latency
        SELECT service, instance, host, window_start, {settings["sample-window-ms"] // SECOND_MS},
               SUM(requests), SUM(errors), SUM(ln_sum), SUM(ln_sum2), merge_latency(latency), SUM(requests)
        FROM partial_samples
        GROUP BY service, instance, host, window_start""",
        accounts.counts(NAME, DECODED),
    ]
