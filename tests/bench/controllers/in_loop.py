"""The recommender as a controller: its own decider, with windows, sizes and scalings from the testbed.

Everything behind the answer is the product's (`sluice.engine.loop`) with the configuration's defaults, on a log in
memory, a period each second on data that are 2 s old. All pools are decided by one loop, as in the product, which knows
what they share. The answers are applied by the actuator's rules, and the sizes read back reported. The hardware
autoscaler tells of each new CPU limit of the service that a pool bounds, and of replicas, as `NotifyScaling` lets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from bench.controllers.applied import Applied
from bench.controllers.collected import Collected
from bench.controllers.occupancy import Occupied
from sluice.config import Config
from sluice.model.keys import PoolKey, Side
from sluice.model.scaling import Scaling
from sluice.model.states import State
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import EstimateJob, Failed
from sluice.pools.estimate.models import BELIEF, DEFAULT
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.workers import Workers
from sluice.pools.policy.state import PoolState
from sluice.pools.shard import PoolsShard
from sluice_kit.decide.fakes import FakeClock
from sluice_kit.journal.memory_log import MemoryLog, pool_shard
from testbed.adjustable import AdjustablePool
from testbed.fine import PoolWindows

PERIOD_S, DELAY_S = 1.0, 2.0
NOTHING = "nothing"
"""A model that never names a size: what the loop does without one."""


def window_s(model: str = BELIEF) -> float:
    """Of the windows that a loop with this model is to be given: what is new, or all that an estimator looks at."""
    return PERIOD_S if model in (BELIEF, NOTHING) else 60.0


@dataclass(frozen=True)
class Sized:
    """A pool as it is at the start of a run.

    name: the testbed's. bounded, cores: the service whose work it bounds, and its CPU limit. bounds: least and most.
    """

    name: str
    key: PoolKey
    size: int
    bounded: str
    cores: float
    threshold_ms: float
    bounds: tuple[int, int]

    @classmethod
    def of(cls, pool: AdjustablePool, threshold_ms: float, bounds: tuple[int, int] | None = None) -> Sized:
        """bounds: else the pool's own."""
        key = PoolKey(pool.service, cast(Side, pool.side), pool.peer)
        bounded = pool.bounded
        bounds = bounds or (pool.min, pool.max)
        return cls(pool.name, key, pool.size, bounded.spec.name, bounded.cores, threshold_ms, bounds)


@dataclass(frozen=True)
class Course:
    """One answer: when (s), its state, the size that was best without constraints, the target, and why.

    best: None where nothing was believed or named. current: the size in force. loss: expected of it, None where nothing
    was believed.
    """

    at_s: float
    state: str
    best: int | None
    target: int | None
    codes: tuple[str, ...]
    basis: str
    current: int | None
    loss: float | None = None


@dataclass
class _Pool:
    """One of them in the run. notified: the cores, pools of its size and replicas of the last notification."""

    sized: Sized
    actuator: Applied
    threshold_ms: float
    notified: tuple[float, int, int] | None = None
    occupied: Occupied = field(default_factory=Occupied)
    course: list[Course] = field(default_factory=list)


class InLoop:
    """Sizes pools; a client pool is per replica of its service where the testbed's is so."""

    def __init__(
        self,
        pools: Sequence[Sized],
        model: str = BELIEF,
        bucket_ms: int = 100,
        collected: Collected | None = None,
        reports: bool = False,
    ) -> None:
        """The pools at the start of a run: autoscaler and actuator tell what they find then. collected: by default,
        whatever the testbed gives is whole. reports: the actuator reports occupancy too."""
        self._reports = reports
        self._pools = {pool.name: _Pool(pool, Applied(pool.bounds), pool.threshold_ms) for pool in pools}
        self._model, self._bucket_ms = model, bucket_ms
        self._clock, self._collected, self._log = FakeClock(0), collected or Collected(), MemoryLog()
        means = PoolResources(workers=_Silent()) if model == NOTHING else PoolResources()
        self._loop = self._log.loop(self._config(), self._collected, self._clock, means)
        for pool in self._pools.values():
            self._tell(pool, pool.sized.cores, 1, 1)
            self._log.size(pool.sized.key, pool.sized.size, 0, pool.sized.name)
        self._loop.hear()

    @property
    def _decider(self) -> PoolsShard:
        return pool_shard(self._loop)

    @property
    def states(self) -> Mapping[PoolKey, PoolState]:
        """All that is known of each pool."""
        return self._decider.states

    def course(self, pool: str) -> list[Course]:
        """Each answer for it, a period apart; goes on with the run."""
        return self._pools[pool].course

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        now_ms = self._clock.now_ms = round(now_s * 1000)
        before = [pool.threshold_ms for pool in self._pools.values()]
        for name, pool in self._pools.items():
            self._see(pool, now_s, now_ms, windows[name])
        if before != [pool.threshold_ms for pool in self._pools.values()]:
            self._loop.next_config = self._config()
        self._loop.periods()
        sizes = {name: self._apply(pool, now_s, now_ms, windows[name].size) for name, pool in self._pools.items()}
        self._loop.hear()
        return {name: size for name, size in sizes.items() if size is not None}

    def _see(self, pool: _Pool, now_s: float, now_ms: int, windows: PoolWindows) -> None:
        pool.threshold_ms = windows.threshold_ns / 1e6
        size, key = windows.size, pool.sized.key
        use = pool.occupied.report(size, windows.in_use, windows.queued, now_ms) if self._reports else None
        self._log.size(key, size, now_ms, pool.sized.name, written=True, occupancy=use)
        self._tell(pool, windows.cores, windows.count, windows.replicas)
        self._collected.take(key, now_s, windows)

    def _apply(self, pool: _Pool, now_s: float, now_ms: int, current: int) -> int | None:
        key = pool.sized.key
        answer = self._decider.answers.get(key)
        # The loop logs what fails and goes on with older answers; here that must not pass for a decision.
        if answer is None or answer.computed_at_ms != now_ms or "FAILED" in answer.content.codes:
            raise RuntimeError(f"{now_s} s: nothing was decided for {key}")
        content, best = answer.content, self._decider.states[key].learnt.wanted
        pool.course.append(
            Course(
                now_s, content.state, best, content.target, content.codes, content.basis, content.current, answer.loss
            )
        )
        size = pool.actuator.size(content, current, now_ms)
        if size is not None:
            self._log.size(key, size, now_ms, pool.sized.name, written=True)
        return size

    def _config(self) -> Config:
        model = DEFAULT if self._model == NOTHING else self._model
        pools = [
            pool.sized.key._asdict()
            | {"threshold": f"{pool.threshold_ms:g}ms", "model": model}
            | {"bounds": dict(zip(("min", "max"), pool.sized.bounds, strict=True))}
            for pool in self._pools.values()
        ]
        return Config.model_validate({"pools": pools, "bucket": f"{self._bucket_ms}ms"})

    def _tell(self, pool: _Pool, cores: float, pools: int, replicas: int) -> None:
        """replicas: of the service that the pool bounds; pools: of the one that it belongs to."""
        if (cores, pools, replicas) == pool.notified:
            return
        pool.notified = (cores, pools, replicas)
        if pool.sized.key.side == "client":
            self._log.scaling(Scaling(self._clock(), pool.sized.key.service, None, pools, "", "testbed"))
        self._log.scaling(Scaling(self._clock(), pool.sized.bounded, cores, replicas, "", "testbed"))


class _Silent(Workers):
    def run(self, jobs: Sequence[EstimateJob]) -> list[Estimate | Failed]:
        return [Estimate(State.LEARNING, ()) for _ in jobs]
