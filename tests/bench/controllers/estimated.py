"""Pools without the recommender's loop, sized by an estimator as its paper applies it."""

from __future__ import annotations

from collections.abc import Mapping

from bench.controllers.bridge import samples_of
from sluice.pools.estimate.growth import as_published
from sluice.pools.estimate.model import Estimator
from testbed.fine import PoolWindows


class Published:
    """Every target is applied as it comes, without hold, guard, memory, or an ear for scaling.

    Silent until a whole window has passed: before that the papers have nothing to say either. A full pool grows as the
    product's does (`sluice.pools.estimate.growth`), without its gates.
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
        estimate = self._estimator.estimate(samples)
        grown = as_published(estimate, samples, windows.size)
        self.named += grown is estimate and grown.target is not None
        return grown.target
