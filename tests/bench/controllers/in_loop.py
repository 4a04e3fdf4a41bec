"""The recommender as a controller: its own control loop, with windows, sizes and scalings from the testbed.

Everything behind the answer is the product's (`sluice.control.loop`) with the configuration's defaults: hold,
exploration and its verdicts, remembered curves, drift, guard. The answer is applied by the actuator's rules, once a
period, and the size read back reported. The hardware autoscaler tells of each new CPU limit of the service that the
pool bounds, as `NotifyScaling` lets it; a limiter has no such ear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bench.controllers.applied import Applied
from bench.controllers.bridge import samples_of
from fakes import FakeClock, FakeCollector, FakeHistory
from sluice.collect import Measured
from sluice.config import Config
from sluice.control.loop import ControlLoop
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.core.keys import PoolKey
from sluice.pools.estimate.models import DEFAULT
from testbed.adjustable import AdjustablePool
from testbed.columns import Ints
from testbed.fine import PoolWindows

PERIOD_S, WINDOW_S, SETTLE_S = 5.0, 60.0, 2.0
"""The configuration's defaults; settle is the agent's to leave out."""


@dataclass(frozen=True)
class Course:
    """One answer: when (s), its state, the estimator's own target and the one after hold and guard, and why."""

    at_s: float
    state: str
    estimated: int | None
    target: int | None
    codes: tuple[str, ...]


class InLoop:
    """Sizes one pool; a client pool is per replica of its callee where the testbed's is so."""

    def __init__(
        self,
        pool: AdjustablePool,
        threshold_ms: float,
        model: str = DEFAULT,
        bucket_ms: int = 100,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        """The pool at the start of a run: autoscaler and actuator tell what they find then. bounds: else the pool's."""
        self._pool, self._side, self._bounded = pool.name, pool.side, pool.bounded.spec.name
        self._key = PoolKey(pool.service, pool.side, pool.peer)  # type: ignore[arg-type]
        least, most = bounds or (pool.min, pool.max)
        pool_ = {**self._key._asdict(), "threshold": f"{threshold_ms:g}ms", "model": model}
        config = Config.model_validate(
            {"pools": [pool_ | {"bounds": {"min": least, "max": most}}], "bucket": f"{bucket_ms}ms"}
        )
        self._clock, self._collector, self._store, self._sizes = FakeClock(0), FakeCollector(), Store(), Sizes()
        self._scalings = Scalings()
        self._tell(pool.bounded.cores)
        self._sizes.report(self._key, pool.size, 0)
        self._counts: list[tuple[float, int]] = []
        self._actuator = Applied((least, most))
        self._loop = ControlLoop(
            config, self._collector, FakeHistory(), self._store, self._sizes, self._clock, scalings=self._scalings
        )
        self.course: list[Course] = []
        """Each answer, a period apart."""

    @property
    def named(self) -> int:
        """Periods in which the estimator itself named a target."""
        return sum(each.estimated is not None for each in self.course)

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        seen = windows[self._pool]
        now_ms = self._clock.now_ms = round(now_s * 1000)
        self._counts.append((now_s, seen.count))
        self._sizes.report(self._key, seen.size, now_ms)
        if seen.cores != self._cores:
            self._tell(seen.cores)
        self._collector.pools[self._key] = measured(self._per_pool(seen))
        self._loop.step()
        answer = self._store.get(self._key)
        assert answer is not None
        content = answer.content
        self.course.append(Course(now_s, content.state, answer.estimate.target, content.target, content.codes))
        size = self._actuator.size(content.action, content.target, seen.size, now_ms)
        if size is None:
            return {}
        self._sizes.report(self._key, size, now_ms)
        return {self._pool: size}

    def _tell(self, cores: float) -> None:
        self._cores = cores
        self._scalings.notify(Scaling(self._clock(), self._bounded, cores, None, "", "testbed"))

    def _per_pool(self, seen: PoolWindows) -> PoolWindows:
        """A client pool's spans come from the caller's instances, each of which may have a pool per callee."""
        if self._side == "server":
            return seen
        starts = (seen.since_ns + np.arange(len(seen.sizes)) * seen.length_ns) / 1e9
        return replace(seen, own=replace(seen.own, instances=in_force(self._counts, starts)))


def in_force(counts: list[tuple[float, int]], starts_s: np.ndarray) -> Ints:
    """The count last seen at each start, the first one before that. [(5, 1), (10, 2)] at 3, 7 and 12 s: 1, 1, 2."""
    times, values = zip(*counts, strict=True)
    index = np.searchsorted(times, starts_s, side="right") - 1
    return np.array(values, dtype=np.int64)[np.maximum(index, 0)]


def measured(seen: PoolWindows) -> Measured | None:
    """As the collector gives it: the buckets with something in flight, and when they start (ms)."""
    samples = samples_of(seen)
    if samples is None:
        return None
    keep = np.flatnonzero((seen.own.busy_ns > 0) & (seen.own.instances > 0))
    return Measured(samples, (seen.since_ns + keep * seen.length_ns) // 1_000_000, seen.length_ns // 1_000_000)
