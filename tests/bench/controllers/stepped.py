"""The decision alone as a controller: `sluice.pools.policy.step` once a second, on windows of the testbed.

What it decides is applied by the actuator's rules, and read back in the next period. It is not yet what the control
loop runs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.controllers.applied import Applied
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import Buckets, Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from testbed.fine import PoolWindows

PERIOD_S, WINDOW_S, DELAY_S = 1.0, 1.0, 2.0


class Stepped:
    def __init__(self, pool: str, cores: float, bounds: tuple[int, int]) -> None:
        self._pool, self._constraints = pool, Constraints(*bounds)
        self._state = PoolState()
        self._told = [(0.0, cores)]
        self._actuator = Applied(bounds)
        self.said: list[tuple[float, Decision]] = []
        """(second, decision) of each period."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        seen = windows[self._pool]
        if seen.cores != self._told[-1][1]:
            self._told.append((now_s, seen.cores))
        observation = Observation(
            sizes={self._pool: seen.size},
            buckets=self._buckets(seen),
            cores=seen.cores,
            slo_s=seen.threshold_ns / 1e9,
            constraints=self._constraints,
        )
        self._state, decision = step(self._state, observation, round(now_s * 1_000))
        self.said.append((now_s, decision))
        size = self._actuator.size(decision.action.value, decision.target, seen.size, round(now_s * 1_000))
        return {} if size is None else {self._pool: size}

    def _buckets(self, seen: PoolWindows) -> Buckets:
        """The CPU limit is known from the period on in which it was told; the one before that has either."""
        count = len(seen.sizes)
        starts_s = (seen.since_ns + np.arange(count) * seen.length_ns) / 1e9
        times, cores = (np.array(column) for column in zip(*self._told, strict=True))
        of = cores[np.searchsorted(times, starts_s, side="right") - 1].astype(np.float64)
        for at in times[1:]:
            of[(starts_s > at - PERIOD_S - 1e-9) & (starts_s < at)] = np.nan
        return Buckets(
            start_ms=((starts_s * 1_000).round()).astype(np.int64),
            concurrency=seen.own.busy_ns / seen.length_ns,
            completions=seen.own.completions.astype(np.float64),
            size=seen.sizes.astype(np.float64),
            cores=of,
            bucket_s=seen.length_ns / 1e9,
        )
