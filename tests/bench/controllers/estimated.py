"""An estimator as a controller: guarded as the recommender's answers are, or bare as the papers apply theirs.

Guarded: `sluice.guard.propose` (hold, exploration) and `sluice.guard.guard` (dead band, cool-down, bounds) with the
configuration's defaults. State: the last good target, and when the size last changed. Bare: every target is applied.
Hardware-only is neither: `Fixed` never answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.controllers.bridge import samples_of
from sluice.config import Bounds, Limits
from sluice.estimate.model import Estimator, State
from sluice.guard import LastGood, guard, propose
from sluice.guard.hold import Situation
from sluice.guard.rules import Context
from testbed.fine import PoolWindows

EXPLORE_AFTER_MS = 300_000


class Fixed:
    """Leaves every pool at its first size."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        return {}


class Bare:
    """Silent until a whole window has passed: before that the paper has nothing to say either."""

    def __init__(self, estimator: Estimator, window_s: float) -> None:
        self._estimator = estimator
        self._window_s = window_s
        self.named = 0
        """Targets that the estimator named."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        if now_s < self._window_s:
            return {}
        targets = {name: self._estimator.estimate(samples_of(seen)).target for name, seen in windows.items()}
        sizes = {name: target for name, target in targets.items() if target is not None}
        self.named += len(sizes)
        return sizes


@dataclass
class _Memory:
    size: int
    changed_ms: int | None = None
    good: LastGood | None = None


class Guarded:
    def __init__(self, estimator: Estimator, window_s: float) -> None:
        self._estimator = estimator
        self._window_ms = round(window_s * 1000)
        self._limits = Limits(bounds=Bounds(min=1, max=256))
        self._memory: dict[str, _Memory] = {}
        self.named = 0
        """Targets that the estimator named; with 0, every change of size is the guard's exploration."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        now_ms = round(now_s * 1000)
        sizes = {name: self._size(name, now_ms, seen) for name, seen in windows.items()}
        return {name: size for name, size in sizes.items() if size is not None}

    def _size(self, name: str, now_ms: int, seen: PoolWindows) -> int | None:
        memory = self._memory.setdefault(name, _Memory(seen.size))
        estimate = self._estimator.estimate(samples_of(seen))
        since = None if memory.changed_ms is None else now_ms - memory.changed_ms
        situation = Situation(
            now_ms=now_ms,
            current=seen.size,
            unchanged_ms=now_ms if since is None else since,
            last_good=memory.good,
            window_ms=self._window_ms,
            explore_after_ms=EXPLORE_AFTER_MS,
            since_change_ms=since,
        )
        target = propose(estimate, situation).target
        if estimate.state is State.PROVIDED and estimate.target is not None:
            self.named += 1
            memory.good = LastGood(estimate.target, now_ms)
        if target is None:
            return None
        lower, upper = estimate.lower_bound, estimate.upper_bound
        size = guard(target, Context(self._limits, now_ms, seen.size, lower, upper, since)).size
        if size != seen.size:
            memory.changed_ms = now_ms
        return size
