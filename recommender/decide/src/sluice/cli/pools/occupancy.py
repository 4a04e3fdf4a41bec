"""Text for the occupancy that targets report."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sluice.cli.pools.text import moment, seconds
from sluice.pools.v1.pool_size_pb2 import TargetSize

# With more targets than this, the text has their sum only.
MOST_NAMED = 4


def targets_tell(sizes: Iterable[TargetSize], now: datetime) -> str:
    """For example "32 of 32 busy, full in 7 of 7 readings, 5 waiting; 12 s ago".

    Several targets appear each with its name, many as their sum. "" where none reports occupancy.
    """
    telling = [size for size in sizes if size.HasField("occupancy")]
    if not telling:
        return ""
    if len(telling) == 1:
        text = _occupancy_text(telling)
    elif len(telling) <= MOST_NAMED:
        text = "; ".join(f"{target.instance} {_occupancy_text([target])}" for target in telling)
    else:
        text = f"{_occupancy_text(telling)}, all {len(telling)} together"
    newest = max(moment(target.read_at) for target in telling)
    return f"{text}; {seconds(max(0.0, (now - newest).total_seconds()))} ago"


def _occupancy_text(targets: Sequence[TargetSize]) -> str:
    readings_of = [target.occupancy for target in targets]
    limit = "" if any(target.unbounded for target in targets) else f" of {sum(target.size for target in targets)}"
    full, readings = (
        sum(occupancy.full for occupancy in readings_of),
        sum(occupancy.readings for occupancy in readings_of),
    )
    waiting = [occupancy.waiting for occupancy in readings_of if occupancy.HasField("waiting")]
    return f"{sum(occupancy.busy for occupancy in readings_of)}{limit} busy, full in {full} of {readings} readings" + (
        f", {sum(waiting)} waiting" if waiting else ""
    )
