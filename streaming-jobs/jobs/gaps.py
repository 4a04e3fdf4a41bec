"""Records that Kafka deleted before the job read them: the jumps in the offsets of each partition.

topic -> partition and offset of each message -> offset_gaps, which keeps the last offset -> offset_gaps (ClickHouse)
"""

import accounts
import spans
from settings import Settings
from upserts import select

FUNCTIONS = {"offset_gaps": "dev.sluice.flink.OffsetGaps"}


def views(topic: str) -> dict[str, str]:
    """`gaps_TOPIC`: partition, first_missing, first_read, received."""
    positions = (
        f"SELECT * FROM {spans.POSITIONS}"
        if topic == accounts.SPANS
        else f"SELECT `partition`, `offset`, record_time FROM {topic}"
    )
    return {
        f"positions_{topic}": positions,
        f"gaps_{topic}": f"""
        SELECT `partition`, first_missing, first_read, received
        FROM offset_gaps(input => TABLE positions_{topic} PARTITION BY `partition`, uid => 'gaps-{topic}')""",
    }


def insert(settings: Settings, topics: list[str]) -> str:
    """INSERT of the gaps of these topics; a gap has one version."""
    parts = [
        select(
            "offset_gaps",
            f"gaps_{topic}",
            flink_job=f"'{settings.flink_job}'",
            topic=f"'{topic}'",
            version="first_read",
        )
        for topic in topics
    ]
    return f"INSERT INTO offset_gaps {' UNION ALL '.join(parts)}"
