"""How full a pool was in its newest seconds."""

from __future__ import annotations

from sluice.fast.worth import LOOK_SHARE
from sluice.pools.estimate.belief.evidence import PARTIAL
from sluice.pools.policy.state import Facts, Learnt

# A pool is full when it was full for so many seconds in a row, and was not before them.
FILLED = 2


def full_share(facts: Facts, learnt: Learnt) -> float:
    """The mean fullness, 0..1, of the newest seconds since the last change and since the load came.

    A pool of 5 that was full, and is half full at 10, gives no reason for 20 in three seconds. A pool that had little
    to do and is full for 2 s in a row is full.
    """
    newest = learnt.full
    if facts.change is not None:
        since = -((facts.change.at_ms - learnt.until_ms) // 1_000)
        newest = newest[-since:] if since > 0 else newest
    earlier, filled = newest[:-FILLED], newest[-FILLED:]
    while earlier and earlier[-1] >= LOOK_SHARE:
        earlier = earlier[:-1]
    # The second in which the pool filled is neither full nor idle.
    earlier = earlier[:-1] if earlier and earlier[-1] > PARTIAL else earlier
    if len(filled) == FILLED and min(filled) >= LOOK_SHARE and max(earlier, default=0.0) <= PARTIAL:
        return 1.0
    return sum(newest) / len(newest) if newest else 0.0
