"""A limiter that is told of scaling: a CPU limit f times as high multiplies its limit by f, once and at once."""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Rule, Signal


@dataclass
class Told:
    """Around a rule, or around `Delayed`: the news of the CPU limit is never late.

    The window in which the CPU limit changed is not handed on.
    """

    rule: Rule
    _cores: float | None = None

    @property
    def limit(self) -> float:
        return self.rule.limit

    @property
    def enough(self) -> int:
        return self.rule.enough

    @property
    def period_s(self) -> float:
        return self.rule.period_s

    def update(self, seen: Signal) -> float:
        before, self._cores = self._cores, seen.cores
        if before is None or before == seen.cores:
            return self.rule.update(seen)
        self.rule.rescale(seen.cores / before)
        return self.rule.limit

    def rescale(self, factor: float) -> None:
        self.rule.rescale(factor)
