"""The job `container_latency`: how the latency of each container is distributed, per window of the request's end.

span_sample  -> what messages add -> sums by container and window
             -> container_latency (count, moments of ln(latency), histogram)
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
SPAN_TABLES = ["sample"]
FUNCTIONS = {"merge_latency": "dev.sluice.latency.MergeLatency"}


def views(settings: Settings) -> dict[str, str]:
    """What it reads is defined already."""
    return {}


def inserts(settings: Settings) -> list[str]:
    """The version is the number of requests."""
    return [
        insert_sums(
            NAME, "span_sample", window_s=str(settings["sample-window-ms"] // SECOND_MS), version="SUM(requests)"
        ),
        accounts.counts(NAME, spans.COUNTED),
    ]
