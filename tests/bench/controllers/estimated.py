"""Pools without the recommender's loop, sized by an estimator as its paper applies it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bench.controllers.bridge import samples_of
from sluice.pools.estimate.full_pool import is_limited
from sluice.pools.estimate.model import Estimator
from testbed.fine import PoolWindows

# A knee this near to the size of a pool that is full lies at the edge of what could be seen.
AT_THE_EDGE = 0.8
# One step of growth.
QUARTER = 0.25


class Published:
    """Every target is applied as it comes, without hold, guard, memory, or an ear for scaling.

    Silent until a whole window has passed: before that the papers have nothing to say either. "Too-conservative
    settings may affect knee point detection [...]. Hence, we gradually increase the allocation" (Sora 3.2): where the
    pool, at its size of now, was full in a tenth of the buckets and no target lies clearly below its size, it grows by
    a quarter. ConScale has no such rule, and could never leave a pool that is too small; it is given it here.
    """

    def __init__(self, estimator: Estimator, window_s: float) -> None:
        self._estimator = estimator
        self._window_s = window_s
        self.named = 0
        """Targets that the estimator named and that were applied."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        if now_s < self._window_s:
            return {}
        sizes = {name: self._size(item) for name, item in windows.items()}
        return {name: size for name, size in sizes.items() if size is not None}

    def _size(self, windows: PoolWindows) -> int | None:
        samples = samples_of(windows)
        if samples is None:
            return None
        target = self._estimator.estimate(samples).target
        at_this_size = samples.take(samples.limit == windows.size)
        if is_limited(at_this_size) and (target is None or target >= AT_THE_EDGE * windows.size):
            return windows.size + math.ceil(QUARTER * windows.size)
        self.named += target is not None
        return target
