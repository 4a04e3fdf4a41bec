"""A limiter that is told of scaling: a CPU limit f times as high multiplies its limit by f, once and at once."""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Around, Signal


@dataclass
class Told(Around):
    """Around a rule, or around `Delayed`: the news of the CPU limit is never late.

    The window in which the CPU limit changed is not handed on.
    """

    _cores: float | None = None

    def update(self, seen: Signal) -> float:
        before, self._cores = self._cores, seen.cores
        if before is None or before == seen.cores:
            return self.rule.update(seen)
        self.rule.rescale(seen.cores / before)
        return self.rule.limit
