"""The control loop: collect -> estimate -> guard -> publish, once per period."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sluice.collect import Window
from sluice.config import Config
from sluice.control.answer import Answer
from sluice.control.curves import Curves, Kept
from sluice.control.decide import decide
from sluice.control.grounds import Grounds
from sluice.control.judge import Judge, Seen
from sluice.control.pauses import Pause, Pauses
from sluice.control.problems import Problems
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Memory, Store
from sluice.control.thresholds import Thresholds
from sluice.control.workers import Workers
from sluice.core.keys import PoolKey
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.guard.backends import Ceiling, Demand, ceilings

Clock = Callable[[], int]
"""Unix time in milliseconds."""


class Collects(Protocol):
    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window: ...


class Remembers(Protocol):
    """Where answers are kept: raises when it cannot be read; recording never raises."""

    def restore(self) -> dict[PoolKey, Memory]: ...

    def pauses(self) -> dict[PoolKey, Pause]: ...

    def scalings(self) -> list[Scaling]: ...

    def curves(self) -> list[Kept]: ...

    def record(self, answers: list[Answer]) -> None: ...

    def keep(self, curves: list[Kept]) -> None: ...


class ControlLoop:
    def __init__(
        self,
        config: Config,
        collector: Collects,
        history: Remembers,
        store: Store,
        sizes: Sizes,
        clock: Clock,
        pauses: Pauses | None = None,
        scalings: Scalings | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.config = config
        self._pauses = pauses or Pauses()
        self._scalings = scalings or Scalings()
        self._collector, self._history, self._store = collector, history, store
        self._sizes, self._clock = sizes, clock
        self._problems = Problems()
        self._thresholds = Thresholds()
        self._grounds = Grounds(self._scalings, Curves())
        self._judge = Judge(
            self._grounds,
            self._scalings,
            sizes,
            workers or Workers(),
            self._problems,
            store.last_good,
            store.last_target,
        )
        self._restored = False

    def step(self) -> None:
        """One period. Never raises: what fails is logged once per cause, and answers age until it works again."""
        config, now_ms = self.config, self._clock()
        try:
            self._restore()
            thresholds = self._thresholds.of(config, self._upstream(config, now_ms), now_ms)
            window = self._collector.collect(config, {key: t.value_ns for key, t in thresholds.items()}, now_ms)
            seen = self._judge.see(config, thresholds, window, now_ms)
            limits = limits_of(config, seen)
            answers = [
                decide(
                    config,
                    one.pool,
                    thresholds[one.pool.key],
                    one.measured,
                    one.estimate,
                    one.situation,
                    one.proposal,
                    limits.get(one.pool.key),
                    self._pauses.of(one.pool.key),
                    one.ground,
                    one.targets,
                )
                for one in seen
            ]
            # The lease begins here: what deciding took is not taken from it.
            until_ms = self._clock() + int(config.lease)
            self._publish([replace(answer, valid_until_ms=until_ms) for answer in answers])
            self._history.keep(self._grounds.take())
            self._problems.succeeded("control period")
        except Exception as cause:
            self._problems.failed("control period", cause)
            self._age(now_ms)

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Steps until `stop`; `wake` starts the next period at once."""
        while not stop.is_set():
            begun = self._clock()
            self.step()
            # A clock that is set back meanwhile must not make this wait as long as it was moved.
            spent_ms = max(0, self._clock() - begun)
            wake.wait(max(0.0, self.config.period - spent_ms) / 1000)
            wake.clear()

    def _restore(self) -> None:
        if not self._restored:
            self._pauses.restore(self._history.pauses())
            self._scalings.restore(self._history.scalings())
            self._grounds.restore(self._history.curves())
            self._store.restore(self._history.restore())
            self._restored = True

    def _upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """Paths that cannot be read do not take the answers away: what was last known stands in."""
        try:
            seen = self._collector.upstream(config, now_ms)
        except Exception as cause:
            self._problems.failed("upstream times", cause)
            return {}
        self._problems.succeeded("upstream times")
        return seen

    def _publish(self, answers: list[Answer]) -> None:
        # Stored, where the database lets us, before anybody is told: then a kill -9 cannot give a revision out twice
        # with different content.
        numbered = self._store.number(answers)
        self._history.record(numbered)
        self._store.publish(numbered)

    def _age(self, now_ms: int) -> None:
        """Marks answers whose lease is over; before the first period there is none to mark."""
        if not self._store.ready:
            return
        answers = self._store.newest()
        aged = [
            answer.stale(self._sizes.targets(answer.key, now_ms)) if now_ms > answer.valid_until_ms else answer
            for answer in answers
        ]
        if aged != answers:
            self._publish(aged)


def limits_of(config: Config, seen: list[Seen]) -> dict[PoolKey, Ceiling]:
    """What backends leave to each pool; one that has no size yet asks for nothing."""
    limits: dict[PoolKey, Ceiling] = {}
    for backend in config.backends:
        demands = {
            one.pool.key: Demand(size, one.instances)
            for one in seen
            if one.pool.side == "client" and one.pool.peer == backend.peer
            for size in (one.proposal.target or one.situation.current,)
            if size is not None
        }
        limits |= ceilings(backend.peer, backend.capacity, demands)
    return limits
