"""A limiter that is told of scaling: a CPU limit f times as high multiplies its limit by f, once and at once."""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Around, Signal


@dataclass
class Notified(Around):
    """Around a rule, or around `Delayed`: the news of the CPU limit is never late.

    The window in which the CPU limit changed is not handed on.
    """

    _cores: float | None = None

    def update(self, signal: Signal) -> float:
        before, self._cores = self._cores, signal.cores
        if before is None or before == signal.cores:
            return self.rule.update(signal)
        self.rule.rescale(signal.cores / before)
        return self.rule.limit
