"""What every job does with its accounts: counts to ClickHouse, dead letters to Kafka."""

SPANS = "otlp_spans"


def counts(job: str, view: str) -> str:
    """INSERT of the sums of `view` into ingest_counts, under the job's name."""
    return f"""
        INSERT INTO ingest_counts
        SELECT '{job}', outcome, service, received, SUM(messages), SUM(spans), SUM(emit_lag_ms), SUM(contributions)
        FROM {view}
        GROUP BY outcome, service, received"""


def dead_letters(view: str, topic: str = SPANS) -> str:
    """INSERT of `view`, which was read from `topic`, into the dead-letter topic."""
    return f"""
        INSERT INTO otlp_dead_letter
        SELECT reason, detail, '{topic}', `partition`, `offset`, service, trace_id, span_id, payload
        FROM {view}"""
