"""The job `resource_metrics`: use of hosts and containers, and figures of pools, per window, from agents' metrics.

otlp_metrics -> resource_points: one message becomes sums by series and window -> sums of those -> resource_metrics,
             |                                                                                     pool_metrics
             \\-> outcomes of its points -> ingest_counts

The job reads only the metrics in metrics.csv and pools.csv of the functions. The views v_resource_metrics_between and
v_pool_metrics_between compute rates of counters, because they need two windows, which may arrive in any order.
"""

import accounts
from settings import SECOND_MS, Settings
from upserts import insert_sums

NAME = "resource_metrics"
TOPIC = "otlp_metrics"
REJECTED = "rejected_metrics"
FUNCTIONS = {"resource_points": "dev.sluice.flink.ResourceMetrics"}


def views(settings: Settings) -> dict[str, str]:
    """Each row of decoded_metrics has one of its first four columns; the others are NULL."""
    return {
        "decoded_metrics": """
        SELECT d.part, d.pool, d.counted, d.rejected, s.`partition`, s.`offset`
        FROM otlp_metrics AS s,
             LATERAL TABLE(resource_points(s.message, s.record_time, s.`partition`))
               AS d (part, pool, counted, rejected)""",
        "metric_parts": "SELECT d.part.* FROM decoded_metrics AS d WHERE d.part IS NOT NULL",
        "pool_parts": "SELECT d.pool.* FROM decoded_metrics AS d WHERE d.pool IS NOT NULL",
        "counted_metrics": "SELECT d.counted.* FROM decoded_metrics AS d WHERE d.counted IS NOT NULL",
        "rejected_metrics": """
        SELECT d.rejected.*, d.`partition`, d.`offset` FROM decoded_metrics AS d WHERE d.rejected IS NOT NULL""",
    }


def inserts(settings: Settings) -> list[str]:
    """The version is the number of points."""
    sums = {
        "window_s": str(settings["sample-window-ms"] // SECOND_MS),
        "value_min": "MIN(value_min)",
        "value_max": "MAX(value_max)",
        "first_ns": "MIN(first_ns)",
        "last_ns": "MAX(last_ns)",
        "version": "SUM(points)",
    }
    return [
        insert_sums(NAME, "metric_parts", **sums),
        insert_sums("pool_metrics", "pool_parts", **sums),
        accounts.counts(NAME, "counted_metrics"),
    ]
