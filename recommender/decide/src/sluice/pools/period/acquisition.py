"""Chooses the pools that a decider leaves for a later period after a takeover.

The first period makes every belief anew and learns the windows since the newest evidence. For all pools together this
would take twice as long as a later period. The pools left keep the previous decider's answer, with the rest of its
lease. Worked: of 10,000 pools, 5,000 are decided in the first period, and the others in the second.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil

from sluice.model.keys import PoolKey

# Pools per period: this share of all, and at least this many.
SHARE, FEWEST = 0.5, 500


class Acquisition:
    """Leaves no pools from the first period on that decided all the waiting ones."""

    def __init__(self) -> None:
        self._left: Sequence[PoolKey] | None = None

    def left(self, pools: Sequence[PoolKey], stands: Collection[PoolKey]) -> frozenset[PoolKey]:
        """The pools to leave for later. pools: all, in the order of decision. stands: those with an answer that can
        stay meanwhile."""
        waiting = [key for key in pools if key in stands] if self._left is None else self._left
        self._left = waiting[max(FEWEST, ceil(SHARE * len(pools))) :]
        return frozenset(self._left)
