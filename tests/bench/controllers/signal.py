"""What a concurrency limiter sees of a pool since it was last asked, and how its rule becomes a controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.columns import Ints
from testbed.fine import PoolWindows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signal:
    """The n buckets of one window, and how the pool stood at its end. What is counted is per pool of that size."""

    until_s: float
    """End of the window; grows from one to the next."""
    bucket_s: float
    sizes: Ints
    """The pool's size where each bucket starts, shape (n,)."""
    durations_s: Floats
    """Response times of the pool's own spans, from taking a slot to giving it back: shape (k,), all pools, k >= 1, in
    the order of their ends."""
    inflight: float
    """Most in use at a time: the larger of the fullest bucket's mean and ``in_use``. A limiter in the process knows the
    most at any moment, which may be more."""
    in_use: float
    throughput_per_s: float
    dropped: bool
    """A span failed, as where a queue was full."""
    threshold_s: float
    cores: float
    """CPU limit of a replica."""
    cpu: float = 0.0
    """Share of the CPU limit in use since the last window, 0..1; 0 where it is not known."""

    @property
    def samples(self) -> int:
        return len(self.durations_s)

    @property
    def seconds(self) -> float:
        return len(self.sizes) * self.bucket_s

    @cached_property
    def mean_s(self) -> float:
        return float(self.durations_s.mean())

    def quantile_s(self, q: float) -> float:
        return float(np.quantile(self.durations_s, q))


def signal_of(windows: PoolWindows, before: PoolWindows | None = None) -> Signal | None:
    """None when nothing completed. ``before``: the windows of the last call, for the CPU used since."""
    if len(windows.own_durations_ns) == 0:
        return None
    pools = windows.count
    seconds = len(windows.sizes) * windows.length_ns / 1e9
    in_use = windows.in_use / pools
    return Signal(
        until_s=_until_ns(windows) / 1e9,
        bucket_s=windows.length_ns / 1e9,
        sizes=windows.sizes,
        durations_s=windows.own_durations_ns / 1e9,
        inflight=max(float(windows.own.busy_ns.max()) / windows.length_ns / pools, in_use),
        in_use=in_use,
        throughput_per_s=len(windows.own_durations_ns) / seconds / pools,
        dropped=bool(windows.own.errors.sum() > 0),
        threshold_s=windows.threshold_ns / 1e9,
        cores=windows.cores,
        cpu=_cpu(windows, before),
    )


def _until_ns(windows: PoolWindows) -> int:
    return windows.since_ns + len(windows.sizes) * windows.length_ns


def _cpu(windows: PoolWindows, before: PoolWindows | None) -> float:
    if before is None:
        return 0.0
    available = (_until_ns(windows) - _until_ns(before)) / 1e9 * windows.cores * windows.replicas
    return (windows.core_seconds - before.core_seconds) / available if available > 0 else 0.0


def steady(
    response_s: float,
    inflight: float,
    throughput_per_s: float,
    *,
    size: int,
    until_s: float = 1.0,
    seconds: float = 1.0,
    dropped: bool = False,
    threshold_s: float = 0.25,
    cores: float = 2.0,
    cpu: float = 0.0,
) -> Signal:
    """A window in buckets of 100 ms in which nothing varies: every request takes ``response_s``; one at least."""
    return Signal(
        until_s=until_s,
        bucket_s=0.1,
        sizes=np.full(max(1, round(seconds * 10)), size, dtype=np.int64),
        durations_s=np.full(max(1, round(throughput_per_s * seconds)), response_s),
        inflight=inflight,
        in_use=inflight,
        throughput_per_s=throughput_per_s,
        dropped=dropped,
        threshold_s=threshold_s,
        cores=cores,
        cpu=cpu,
    )


class Rule(Protocol):
    """A limiter: a state, and one step of it for each window."""

    @property
    def limit(self) -> float: ...

    @property
    def enough(self) -> int:
        """Completions without which a window is skipped."""
        ...

    @property
    def period_s(self) -> float:
        """How often it wants to be asked; each window is the time since the last one."""
        ...

    def update(self, signal: Signal) -> float:
        """The new limit."""
        ...

    def rescale(self, factor: float) -> None:
        """The capacity is now ``factor`` times what it was: so is the limit, and what was learnt is learnt anew."""
        ...


@dataclass
class Around:
    """A rule around another, which it changes in what it overrides."""

    rule: Rule

    @property
    def limit(self) -> float:
        return self.rule.limit

    @property
    def enough(self) -> int:
        return self.rule.enough

    @property
    def period_s(self) -> float:
        return self.rule.period_s

    def rescale(self, factor: float) -> None:
        self.rule.rescale(factor)


class Limiter:
    """A rule as a `testbed.controller.Controller` of every pool that it is given, whole slots, rounded down."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._before: dict[str, PoolWindows] = {}

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        sizes = {}
        for name, rule in self._rules.items():
            signal = signal_of(windows[name], self._before.get(name))
            self._before[name] = windows[name]
            if signal is not None and signal.samples >= rule.enough:
                sizes[name] = max(1, int(rule.update(signal)))
        return sizes
