"""The job `container_latency`: the distribution of each container's latency, and the amounts of data that its spans
report, per window of the span's end.

span_sample  -> what messages add -> sums by container and window
             -> container_latency (count, moments of ln(latency), histogram)
span_size    -> what messages add -> sums by resource and window -> data_sizes (rows, bytes, and spans that report them)
span_counted -> outcomes of spans -> ingest_counts

These are the samples of the Microns latency model (section 5.4). The job `resource_metrics` has the load of the host
and the container at the time; the view v_container_latency joins the two.
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
    """None: the stage of the spans defines the views that it reads."""
    return {}


def inserts(settings: Settings) -> list[str]:
    """The version is the number of requests, or of reported sizes: a span that reports rows and bytes counts twice."""
    window_s = str(settings["sample-window-ms"] // SECOND_MS)
    return [
        insert_sums(NAME, "span_sample", window_s=window_s, version="SUM(requests)"),
        insert_sums("data_sizes", "span_size", window_s=window_s, version="SUM(row_spans + byte_spans)"),
        accounts.counts(NAME, spans.COUNTED),
    ]
