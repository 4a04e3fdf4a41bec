"""The presets under a load whose bursts pass the optimum and come back, so that the whole curve is seen (Sora 3.2).

Under the presets' own 12 minutes the number in flight is either far below the optimum or at the pool's size: users who
think for 7 s keep coming while a queue of thousands stands, and a pool of 80 that thrashes never gets out of it. No
estimator can read a curve there. Here users think for 0.5 s, so that a slow response holds its user back, and there
are enough of them to ask, at the peak, for half as much again as the CPUs could do without any overhead:

    users = 1.5 * cores / work * (think + service time)

cart 1.5 * 2 / 5 ms * (500 + 21) ms = 313; catalogue 1.5 * 2 / 4 ms * 527 ms = 395; post-storage 1.5 * 2 / 3 ms * 511 ms
= 511. The shape is the shop's: a burst every 6 s, of which every sixth reaches the peak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bench.controllers.bridge import samples_of
from sluice.pools.estimate.interval import Interval, choose
from sluice.pools.estimate.samples import Samples
from testbed.distributions import Exponential
from testbed.fine import FineWindows, PoolWindows
from testbed.presets.preset import Preset
from testbed.presets.shop import BURSTS
from testbed.presets.social_network import POST_STORAGE
from testbed.presets.sock_shop import CART, CATALOGUE
from testbed.simulation import Scenario, Simulation

THINK_S = 0.5
FINEST_MS = 10


def profiled(preset: Preset, users: int) -> Preset:
    """The same application; users, think time and shape as above."""

    def build(users: int, sizes: Mapping[str, int], shape: Callable[[float], float] | None = None) -> Scenario:
        return replace(preset.build(users, sizes, shape or BURSTS), think=Exponential(THINK_S))

    return replace(preset, build=build, users=users)


PROFILED: tuple[Preset, ...] = (profiled(CART, 313), profiled(CATALOGUE, 395), profiled(POST_STORAGE, 511))


def pool_of(preset: Preset) -> str:
    return next(iter(preset.threshold_ms))


@dataclass(frozen=True)
class Observer:
    """One pool of a run, held at one size: what it looked like over the last seconds, at any sampling interval."""

    simulation: Simulation
    fine: FineWindows
    pool: str
    threshold_ms: float

    @classmethod
    def of(cls, preset: Preset, size: int, seed: int) -> Observer:
        pool, fine = pool_of(preset), FineWindows()
        simulation = Simulation(preset.build(preset.users, {pool: size}), seed, fine.add)
        fine.watch([simulation.pools[pool]])
        return cls(simulation, fine, pool, preset.threshold_ms[pool])

    def windows(self, seconds: float, bucket_ms: int) -> PoolWindows:
        now, pool = self.simulation.engine.now, self.simulation.pools[self.pool]
        return self.fine.last(pool, now, seconds, bucket_ms, self.threshold_ms)

    def samples(self, seconds: float, bucket_ms: int) -> Samples | None:
        return samples_of(self.windows(seconds, bucket_ms))

    def interval(self, seconds: float) -> Interval:
        """What `bucket: auto` chooses from buckets of 10 ms."""
        windows = self.windows(seconds, FINEST_MS)
        busy = np.flatnonzero(windows.own.busy_ns > 0)
        in_flight = windows.own.busy_ns[busy] / windows.length_ns
        return choose(busy * FINEST_MS, in_flight, windows.judge.completions[busy].astype(np.float64), FINEST_MS)
