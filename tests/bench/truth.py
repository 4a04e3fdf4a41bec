"""Ground truth of a pool by brute force: every size held fixed under the same load, and what the users got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from testbed.presets.preset import Preset
from testbed.sweep import measure

TOLD_APART = 0.01
"""Sizes that lose less than this share of the best goodput form the plateau."""


@dataclass(frozen=True)
class Truth:
    """goodput_per_s: mean over seeds of the users' good responses a second, by pool size, at least one."""

    goodput_per_s: Mapping[int, float]

    @property
    def best(self) -> int:
        """The smallest size of the highest goodput."""
        return min(self.goodput_per_s, key=lambda size: (-self.goodput_per_s[size], size))

    @property
    def plateau(self) -> tuple[int, int]:
        """The range of measured sizes around the best one that lose less than `TOLD_APART`."""
        sizes = sorted(self.goodput_per_s)
        low = high = sizes.index(self.best)
        while low > 0 and self.regret(sizes[low - 1]) < TOLD_APART:
            low -= 1
        while high + 1 < len(sizes) and self.regret(sizes[high + 1]) < TOLD_APART:
            high += 1
        return sizes[low], sizes[high]

    def regret(self, size: int) -> float:
        """Share of the best size's goodput that `size` loses; between measured sizes along a straight line."""
        sizes = sorted(self.goodput_per_s)
        got = float(np.interp(size, sizes, [self.goodput_per_s[size] for size in sizes]))
        return 1.0 - got / self.goodput_per_s[self.best]

    def error(self, size: int) -> float:
        """|size - best| / best, one term of the MAPE."""
        return abs(size - self.best) / self.best

    def error_off_plateau(self, size: int) -> float:
        """As `error`, but from the nearest size of the plateau: 0 on it."""
        low, high = self.plateau
        return max(low - size, size - high, 0) / self.best


def measured(preset: Preset, pool: str, sizes: Sequence[int], seeds: Sequence[int], seconds: float) -> Truth:
    """Each size with each seed, after the preset's warm-up. The seeds are the same for all sizes: so is the load."""

    def goodput(size: int) -> float:
        runs = [measure(pool, size, seconds=seconds, preset=preset, seed=seed) for seed in seeds]
        return float(np.mean([run.user_goodput for run in runs]))

    return Truth({size: goodput(size) for size in sizes})
