"""What every job does with its accounts: counts to ClickHouse, dead letters to Kafka."""

SPANS = "otlp_spans"


def counts(job: str, view: str) -> str:
    """INSERT of the sums of `view.counted` into ingest_counts, under the job's name."""
    return f"""
        INSERT INTO ingest_counts
        SELECT '{job}', outcome, service, received, SUM(messages), SUM(spans), SUM(emit_lag_ms), SUM(contributions)
        FROM (
            SELECT v.counted.outcome AS outcome, v.counted.service AS service, v.counted.received AS received,
                   v.counted.messages AS messages, v.counted.spans AS spans,
                   v.counted.emit_lag_ms AS emit_lag_ms, v.counted.contributions AS contributions
            FROM {view} AS v WHERE v.counted IS NOT NULL
        )
        GROUP BY outcome, service, received"""


def dead_letters(view: str, topic: str = SPANS) -> str:
    """INSERT of `view.rejected`, which was read from `topic`, into the dead-letter topic."""
    return f"""
        INSERT INTO otlp_dead_letter
        SELECT v.rejected.reason, v.rejected.detail, '{topic}', v.`partition`, v.`offset`,
               v.rejected.service, v.rejected.trace_id, v.rejected.span_id, v.rejected.payload
        FROM {view} AS v WHERE v.rejected IS NOT NULL"""
