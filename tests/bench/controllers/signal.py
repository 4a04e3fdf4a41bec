"""What a concurrency limiter sees of a pool in one window, and how its rule becomes a controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from testbed.fine import PoolWindows


@dataclass(frozen=True)
class Signal:
    """One window; response times are of the pool's own spans, from taking a slot to giving it back.

    inflight: most in use at a time, per pool: the larger of the fullest bucket's mean and what is in use now.
    """

    samples: int
    mean_s: float
    p90_s: float
    inflight: float
    throughput_per_s: float
    dropped: bool = False


def signal_of(windows: PoolWindows) -> Signal | None:
    """None when nothing completed. A drop is a span that failed, as where a queue was full."""
    durations = windows.own_durations_ns
    if len(durations) == 0:
        return None
    pools = windows.count
    fullest = float(windows.own.busy_ns.max()) / windows.length_ns
    return Signal(
        samples=len(durations),
        mean_s=float(durations.mean()) / 1e9,
        p90_s=float(np.quantile(durations, 0.9)) / 1e9,
        inflight=max(fullest, windows.in_use) / pools,
        throughput_per_s=len(durations) / (len(windows.sizes) * windows.length_ns / 1e9) / pools,
        dropped=bool(windows.own.errors.sum() > 0),
    )


class Rule(Protocol):
    """A limiter: a state, and one step of it for each window."""

    limit: float
    enough: int
    """Completions without which a window is skipped."""

    def update(self, seen: Signal) -> float:
        """The new limit."""
        ...


class Limiter:
    """A rule as a `testbed.controller.Controller` of every pool that it is given, whole slots, rounded down."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        sizes = {}
        for name, rule in self._rules.items():
            seen = signal_of(windows[name])
            if seen is not None and seen.samples >= rule.enough:
                sizes[name] = max(1, int(rule.update(seen)))
        return sizes
