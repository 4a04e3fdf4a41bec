"""What the tables show of the pipeline before the decider, for Prometheus: the newest window, and losses."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge

from sluice.clickhouse.database import Database
from sluice.model.problems import Problems

# Between two readings.
EVERY_S = 60.0
# ClickHouse has the largest bucket of each part in memory. Each job counts every span that it reads, so the largest
# count of one job is that of the spans.
_QUERY = """
WITH
    now64(3) - INTERVAL 10 MINUTE AS since,
    (SELECT if(count() = 0, NULL, toUnixTimestamp64Milli(max(bucket))) FROM windows) AS bucket_ms,
    (
        SELECT (max(dead), max(more))
        FROM
        (
            SELECT
                sumIf(spans + messages, NOT startsWith(outcome, 'accepted') AND outcome NOT IN (
                    'repeated_message', 'duplicate_span', 'trace_too_large', 'too_many_traces')) AS dead,
                sumIf(spans, outcome = 'accepted_more') AS more
            FROM ingest_counts FINAL
            WHERE received >= since
            GROUP BY job
        )
    ) AS counted
SELECT
    (toUnixTimestamp64Milli(now64(3)) - bucket_ms) / 1000,
    counted.1,
    counted.2,
    (SELECT sum(rows) FROM rejected_rows FINAL WHERE at >= since),
    (SELECT sum(first_read - first_missing) FROM offset_gaps FINAL WHERE written >= since)
"""
KINDS = "dead_letter", "too_many_names", "rejected_row", "skipped_record"


class PipelineMetrics:
    """Reads in a thread of its own, by its own connection, so that no period waits for it."""

    def __init__(self, database: Database, registry: CollectorRegistry, failed: Callable[[str], None]) -> None:
        """failed: called at each failure, with the activity's name."""
        self._database, self._problems = database, Problems(failed)
        self._age = Gauge(
            "sluice_decider_newest_window_age_seconds",
            "Time from the start of the newest window to the last reading; NaN without windows, +Inf while ClickHouse"
            " does not answer.",
            registry=registry,
        )
        self._losses = Gauge(
            "sluice_decider_recent_losses",
            "Losses of the ten minutes before the last reading: spans and messages that are dead letters, spans"
            " counted under (more), rows that a store refused, records deleted before a job read them.",
            ["kind"],
            registry=registry,
        )
        self._age.set(math.nan)

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(EVERY_S):
            self.read()

    def read(self) -> None:
        """Reads once. Losses keep their last values where ClickHouse does not answer."""
        columns = self._problems.result("pipeline tables", lambda: self._database.columns(_QUERY, {}), None)
        if columns is None:
            self._age.set(math.inf)
            return
        age_s, *losses = (column[0] for column in columns)
        self._age.set(math.nan if age_s is None else age_s)
        for kind, lost in zip(KINDS, losses, strict=True):
            self._losses.labels(kind).set(lost)
