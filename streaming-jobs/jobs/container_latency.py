"""The job `container_latency`: how the latency of each container is distributed, and how much data its spans say that
they moved, per window of the span's end.

span_sample  -> what messages add -> sums by container and window
             -> container_latency (count, moments of ln(latency), histogram)
span_size    -> what messages add -> sums by resource and window -> data_sizes (rows, bytes, and spans that say them)
span_counted -> outcomes of spans -> ingest_counts

These are the samples of the Microns latency model (section 5.4). What the host and the container were busy with at the
time is the job `resource_metrics`; the view v_container_latency joins the two.
"""

import accounts
import spans
from settings import SECOND_MS, Settings
from upserts import insert_sums

NAME = "container_latency"
REJECTED = spans.REJECTED
SPAN_TABLES = ["sample", "size"]
FUNCTIONS = {"merge_latency": "dev.sluice.latency.MergeLatency"}


def views(settings: Settings) -> dict[str, str]:
    """What it reads is defined already."""
    return {}


def inserts(settings: Settings) -> list[str]:
    """The version is the number of requests, or of what was said: of a span that says both, twice."""
    window_s = str(settings["sample-window-ms"] // SECOND_MS)
    return [
        insert_sums(NAME, "span_sample", window_s=window_s, version="SUM(requests)"),
        insert_sums("data_sizes", "span_size", window_s=window_s, version="SUM(row_spans + byte_spans)"),
        accounts.counts(NAME, spans.COUNTED),
    ]
