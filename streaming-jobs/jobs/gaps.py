"""Records that were deleted before they were read: for each topic, where the offsets of a partition jump.

topic -> partition and offset of each message -> offset_gaps: knows the last offset -> offset_gaps (ClickHouse)
"""

import accounts
import messages
from settings import Settings

FUNCTIONS = {"offset_gaps": "dev.sluice.flink.OffsetGaps"}


def views(settings: Settings, topic: str) -> dict[str, str]:
    """`gaps_TOPIC`: partition, first_missing, first_read, received.

    Where all else that reads the topic asks for watermarks, this must as well: see messages.views.
    """
    timed = topic == accounts.SPANS and messages.is_timed(settings)
    source, on_time = ("timed_messages", "on_time => DESCRIPTOR(record_time), ") if timed else (topic, "")
    return {
        f"positions_{topic}": f"SELECT `partition`, `offset`, record_time FROM {source}",
        f"gaps_{topic}": f"""
        SELECT `partition`, first_missing, first_read, received
        FROM offset_gaps(
            input => TABLE positions_{topic} PARTITION BY `partition`, {on_time}uid => 'gaps-{topic}'
        )""",
    }


def insert(settings: Settings, topics: list[str]) -> str:
    """INSERT of the gaps of these topics; there is one version of each."""
    parts = [
        f"""
        SELECT '{settings.flink_job}', '{topic}', `partition`, first_missing, first_read, received, first_read
        FROM gaps_{topic}"""
        for topic in topics
    ]
    return f"INSERT INTO offset_gaps {' UNION ALL '.join(parts)}"
