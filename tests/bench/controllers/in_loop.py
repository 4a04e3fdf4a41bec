"""The recommender as a controller: its own control loop, with windows, sizes and scalings from the testbed.

Everything behind the answer is the product's (`sluice.control.loop`) with the configuration's defaults, a period each
second on data that are 2 s old. The answer is applied by the actuator's rules, and the size read back reported. The
hardware autoscaler tells of each new CPU limit of the service that the pool bounds, and of replicas, as `NotifyScaling`
lets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bench.controllers.applied import Applied
from bench.controllers.bridge import samples_of
from fakes import FakeClock, FakeHistory
from sluice.collect import Measured, Window
from sluice.collect.whole import Whole
from sluice.config import Config
from sluice.control.loop import ControlLoop
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.core.keys import PoolKey
from sluice.log.memory import MemoryStateLog
from sluice.pools.estimate.models import BELIEF
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from testbed.adjustable import AdjustablePool
from testbed.columns import Ints
from testbed.fine import PoolWindows

PERIOD_S, DELAY_S = 1.0, 2.0
KEPT_MS = 90_000


def window_s(model: str = BELIEF) -> float:
    """Of the windows that a loop with this model is to be given: what is new, or all that an estimator looks at."""
    return PERIOD_S if model == BELIEF else 60.0


@dataclass(frozen=True)
class Course:
    """One answer: when (s), its state, the size that was best without constraints, the target, and why.

    loss: expected of the size in force, 0..1; None where nothing was believed.
    """

    at_s: float
    state: str
    best: int | None
    target: int | None
    codes: tuple[str, ...]
    basis: str
    current: int | None


@dataclass
class Windows:
    """What the collector would give of one pool, from the testbed's windows as they come."""

    key: PoolKey
    measured: Measured | None = None
    starts_ms: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    concurrency: np.ndarray = field(default_factory=lambda: np.zeros(0))
    completions: np.ndarray = field(default_factory=lambda: np.zeros(0))
    instances: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    bucket_ms: int = 100

    def take(self, seen: PoolWindows, instances: Ints) -> None:
        """The buckets that are newer than those that there are. instances: pools of this size, shape (n,)."""
        self.bucket_ms = seen.length_ns // 1_000_000
        starts = (seen.since_ns + np.arange(len(seen.sizes)) * seen.length_ns) // 1_000_000
        new = starts > (self.starts_ms[-1] if len(self.starts_ms) else -1)
        kept = self.starts_ms > (starts[-1] if len(starts) else 0) - KEPT_MS
        concurrency = seen.own.busy_ns / seen.length_ns / instances
        self.concurrency = np.concatenate([self.concurrency[kept], concurrency[new]])
        self.completions = np.concatenate([self.completions[kept], (seen.own.completions / instances)[new]])
        self.instances = np.concatenate([self.instances[kept], instances[new]])
        self.starts_ms = np.concatenate([self.starts_ms[kept], starts[new]])

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        return {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        whole = Whole(self.starts_ms, self.concurrency, self.completions, self.instances, self.bucket_ms)
        return Window({self.key: self.measured}, {self.key: whole if len(whole) else None})


class InLoop:
    """Sizes one pool; a client pool is per replica of its callee where the testbed's is so."""

    def __init__(
        self,
        pool: AdjustablePool,
        threshold_ms: float,
        model: str = BELIEF,
        bucket_ms: int = 100,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        """The pool at the start of a run: autoscaler and actuator tell what they find then. bounds: else the pool's."""
        self._pool, self._bounded = pool.name, pool.bounded.spec.name
        self._key = PoolKey(pool.service, pool.side, pool.peer)  # type: ignore[arg-type]
        least, most = bounds or (pool.min, pool.max)
        self._model, self._bucket_ms, self._bounds = model, bucket_ms, (least, most)
        self._clock, self._windows, self._store, self._sizes = FakeClock(0), Windows(self._key), Store(), Sizes()
        self._scalings, self._told = Scalings(), (0.0, 0, 0)
        self._threshold_ms = threshold_ms
        self._tell(pool.bounded.cores, 1, 1)
        self._sizes.report(self._key, pool.size, 0, self._pool)
        self._counts: list[tuple[float, int]] = []
        self._actuator = Applied((least, most))
        self._loop = ControlLoop(
            self._config(),
            self._windows,
            FakeHistory(),
            MemoryStateLog(),
            self._store,
            self._sizes,
            self._clock,
            scalings=self._scalings,
        )
        self.course: list[Course] = []
        """Each answer, a period apart."""

    def _config(self) -> Config:
        least, most = self._bounds
        pool = {**self._key._asdict(), "threshold": f"{self._threshold_ms:g}ms", "model": self._model}
        return Config.model_validate(
            {"pools": [pool | {"bounds": {"min": least, "max": most}}], "bucket": f"{self._bucket_ms}ms"}
        )

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        seen = windows[self._pool]
        now_ms = self._clock.now_ms = round(now_s * 1000)
        self._counts.append((now_s, seen.count))
        if seen.threshold_ns != round(self._threshold_ms * 1e6):
            self._threshold_ms = seen.threshold_ns / 1e6
            self._loop.config = self._config()
        self._sizes.report(self._key, seen.size, now_ms, self._pool, written=True)
        self._tell(seen.cores, seen.count, seen.replicas)
        starts = (seen.since_ns + np.arange(len(seen.sizes)) * seen.length_ns) / 1e9
        instances = in_force(self._counts, starts)
        self._windows.take(seen, instances)
        if self._model != BELIEF:
            self._windows.measured = measured(replace(seen, own=replace(seen.own, instances=instances)))
        self._loop.step()
        answer = self._store.get(self._key)
        assert answer is not None
        content, best = answer.content, self._loop.states[self._key].learnt.wanted
        self.course.append(
            Course(now_s, content.state, best, content.target, content.codes, content.basis, content.current)
        )
        size = self._actuator.size(content.action, content.target, seen.size, now_ms)
        if size is None:
            return {}
        self._sizes.report(self._key, size, now_ms, self._pool, written=True)
        return {self._pool: size}

    def _tell(self, cores: float, pools: int, replicas: int) -> None:
        """replicas: of the service that the pool bounds; pools: of the one that it belongs to."""
        if (cores, pools, replicas) == self._told:
            return
        self._told = (cores, pools, replicas)
        if self._key.side == "client":
            self._scalings.notify(Scaling(self._clock(), self._key.service, None, pools, "", "testbed"))
        self._scalings.notify(Scaling(self._clock(), self._bounded, cores, replicas, "", "testbed"))


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
