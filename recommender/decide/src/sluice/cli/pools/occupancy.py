"""Text for the occupancy that targets report."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sluice.cli.pools.words import moment, seconds
from sluice.pools.v1.pool_size_pb2 import TargetSize

# With more targets than this, the text has their sum only.
MOST_NAMED = 4


def targets_tell(sizes: Iterable[TargetSize], now: datetime) -> str:
    """For example "32 of 32 busy, full in 7 of 7 readings, 5 waiting; 12 s ago".

    Several targets appear each with its name, many as their sum. "" where none reports occupancy.
    """
    telling = [each for each in sizes if each.HasField("occupancy")]
    if not telling:
        return ""
    if len(telling) == 1:
        text = _words(telling)
    elif len(telling) <= MOST_NAMED:
        text = "; ".join(f"{each.instance} {_words([each])}" for each in telling)
    else:
        text = f"{_words(telling)}, all {len(telling)} together"
    newest = max(moment(each.read_at) for each in telling)
    return f"{text}; {seconds(max(0.0, (now - newest).total_seconds()))} ago"


def _words(targets: Sequence[TargetSize]) -> str:
    told = [each.occupancy for each in targets]
    limit = "" if any(each.unbounded for each in targets) else f" of {sum(each.size for each in targets)}"
    full, readings = sum(each.full for each in told), sum(each.readings for each in told)
    waiting = [each.waiting for each in told if each.HasField("waiting")]
    return f"{sum(each.busy for each in told)}{limit} busy, full in {full} of {readings} readings" + (
        f", {sum(waiting)} waiting" if waiting else ""
    )
