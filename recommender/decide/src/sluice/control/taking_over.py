"""Which pools a decider that takes over leaves for its next period.

Its first period makes every belief anew and learns what came since the evidence that it found, which for all pools
together would last twice as long as a later one. The answer of the decider before stands for those that are left, with
what is left of its lease. Worked: of 10,000 pools 5,000 are taken in the first period, and the others in the second.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil

from sluice.model.keys import PoolKey

# Pools that are taken up in a period: this part of all, and so many at least.
SHARE, FEWEST = 0.5, 500


class TakingOver:
    """Nothing is left from the first period on in which all that waited were taken."""

    def __init__(self) -> None:
        self._left: Sequence[PoolKey] | None = None

    def left(self, pools: Sequence[PoolKey], stands: Collection[PoolKey]) -> frozenset[PoolKey]:
        """For later than the period that begins. pools: all, in the order in which they are taken; stands: those that
        have an answer which can stand meanwhile."""
        waiting = [key for key in pools if key in stands] if self._left is None else self._left
        self._left = waiting[max(FEWEST, ceil(SHARE * len(pools))) :]
        return frozenset(self._left)
