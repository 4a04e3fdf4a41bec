"""The record at which a Flink job without state begins to read. A job with a savepoint goes on at its offsets."""

from collections.abc import Mapping
from datetime import datetime

EARLIEST = "earliest"
GROUP_OFFSETS = "group-offsets"
FORMS = f"{EARLIEST}, {GROUP_OFFSETS}, or a time with its zone such as 2026-01-31T12:00:00Z"


def options(start: str) -> Mapping[str, str]:
    """Options of the Kafka table. Raises ValueError for any other form than FORMS.

    A time is compared with the broker's record time. Offsets that a group has not committed, or that retention has
    dropped since, count as earliest: records that are read twice count once, records that are skipped are lost.
    """
    if start == EARLIEST:
        return {"scan.startup.mode": "earliest-offset"}
    if start == GROUP_OFFSETS:
        return {"scan.startup.mode": "group-offsets", "properties.auto.offset.reset": "earliest"}
    try:
        time = datetime.fromisoformat(start)
    except ValueError as error:
        raise ValueError(f"is {start!r}: must be {FORMS}") from error
    if time.tzinfo is None:
        raise ValueError(f"is {start!r}, which has no zone: must be {FORMS}")
    if time.timestamp() < 0:
        raise ValueError(f"is {start!r}: must not lie before 1970")
    return {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": str(round(time.timestamp() * 1000))}
