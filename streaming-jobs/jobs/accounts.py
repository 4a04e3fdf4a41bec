"""The accounts of every job: counts to ClickHouse, dead letters to Kafka."""

from upserts import insert_sums

SPANS = "otlp_spans"


def counts(job: str, view: str) -> str:
    """INSERT of the sums of `view` into ingest_counts, under the job's name."""
    return insert_sums("ingest_counts", view, job=f"'{job}'", version="SUM(contributions)")


def dead_letters(view: str, topic: str = SPANS) -> str:
    """INSERT of `view`, whose rows come from `topic`, into the dead-letter topic."""
    return f"""
        INSERT INTO otlp_dead_letter
        SELECT reason, detail, '{topic}', `partition`, `offset`, service, trace_id, span_id, payload
        FROM {view}"""
