"""The control loop: collect -> observe -> step -> log -> publish, once per period."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from sluice.collect import Window
from sluice.config import Config, Pool
from sluice.control.answer import Answer, Windows, answer, failed, settled
from sluice.control.named import Targets, named
from sluice.control.observe import (
    NO_BUCKETS,
    buckets_of,
    by_target,
    ceilings_of,
    constraints,
    instances_of,
    observation,
    windows_of,
)
from sluice.control.pauses import Pause, Pauses
from sluice.control.problems import Problems
from sluice.control.scalings import Course, Scaling, Scalings
from sluice.control.sizes import Sizes, TargetSize
from sluice.control.spread import Job, Past, Spread, Stepped
from sluice.control.state_log import WRITE_FIRST_S, StateLog
from sluice.control.store import Memory, Store
from sluice.control.thresholds import Thresholds
from sluice.control.workers import Workers
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import Failed
from sluice.pools.estimate.threshold import Asked, Threshold, UpstreamTime
from sluice.pools.guard.turns import paths, waiting
from sluice.pools.policy.observation import Buckets, Constraints
from sluice.pools.policy.state import PoolState

log = logging.getLogger(__name__)

Clock = Callable[[], int]
"""Unix time in milliseconds."""

# A period that costs more than it lasts is stretched by so much, so that there is time left to answer calls; and a
# lease lasts for so many periods at least.
BREATH, LEASE_PERIODS = 1.25, 3
# How far back windows are read again after a restart.
CATCH_UP_MS = 600_000


class Collects(Protocol):
    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window: ...


class Remembers(Protocol):
    """Where answers are kept: raises when it cannot be read; recording never raises."""

    def restore(self) -> dict[PoolKey, Memory]: ...

    def pauses(self) -> dict[PoolKey, Pause]: ...

    def scalings(self) -> list[Scaling]: ...

    def record(self, answers: list[Answer]) -> None: ...


class _About(NamedTuple):
    """What an answer says of its pool besides what is decided."""

    pool: Pool
    threshold: Threshold
    targets: tuple[TargetSize, ...]
    course: Course
    windows: Windows | None
    estimate: Estimate | None


class ControlLoop:
    def __init__(
        self,
        config: Config,
        collector: Collects,
        history: Remembers,
        states: StateLog,
        store: Store,
        sizes: Sizes,
        clock: Clock,
        pauses: Pauses | None = None,
        scalings: Scalings | None = None,
        workers: Workers | None = None,
        spread: Spread | None = None,
    ) -> None:
        self.config = config
        self.period_ms = float(config.period)
        """Of now: as configured, or as long as it has to be."""
        self._pauses = pauses or Pauses()
        self._scalings = scalings or Scalings()
        self._collector, self._history, self._log, self._store = collector, history, states, store
        self._sizes, self._clock = sizes, clock
        self._problems = Problems()
        self._thresholds = Thresholds()
        self._workers, self._spread = workers or Workers(), spread or Spread()
        self._states: dict[PoolKey, PoolState] = {}
        self._paths: list[set[PoolKey]] = []
        self._paths_of: Config | None = None
        self._restored = self._caught_up = False

    @property
    def states(self) -> Mapping[PoolKey, PoolState]:
        """All that is known of each pool."""
        return self._states

    def step(self) -> None:
        """One period. Never raises: what fails is logged once per cause, and answers age until it works again."""
        config, now_ms = self.config, self._clock()
        try:
            self._restore()
            thresholds = self._thresholds.of(config, self._upstream(config, now_ms), now_ms)
            thresholds_ns = {key: each.value_ns for key, each in thresholds.items()}
            if not self._caught_up:
                self._catch_up(config, thresholds_ns, now_ms)
                self._caught_up = True
            window = self._collector.collect(config, thresholds_ns, now_ms)
            self._publish(self._decide(config, thresholds, window, now_ms), config, now_ms)
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
            self._stretch(spent_ms)
            wake.wait(max(0.0, self.period_ms - spent_ms) / 1000)
            wake.clear()

    def _stretch(self, spent_ms: int) -> None:
        asked, before = float(self.config.period), self.period_ms
        self.period_ms = max(asked, BREATH * spent_ms)
        if not 2 / 3 < self.period_ms / before < 3 / 2:
            text = "a period took %.1f s for %d pools: the next begins %.1f s after it began (configured: %.1f s)"
            log.info(text, spent_ms / 1e3, len(self.config.pools), self.period_ms / 1e3, asked / 1e3)

    def _restore(self) -> None:
        if self._restored:
            return
        self._pauses.restore(self._history.pauses())
        self._scalings.restore(self._history.scalings())
        self._store.restore(self._history.restore())
        self._states = dict(self._log.restore())
        for key, state in self._states.items():
            if state.facts.current is not None:
                changed = state.facts.change
                self._sizes.restore(key, state.facts.current, changed.at_ms if changed is not None else 0)
        self._restored = True

    def _catch_up(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> None:
        """A window at a time, from where the oldest evidence ends; the next reading has the newest window anyway."""
        width = int(config.window)
        ends = [self._states[pool.key].learnt.until_ms for pool in config.pools if pool.key in self._states]
        oldest = max(min(ends, default=now_ms), now_ms - CATCH_UP_MS)
        for at in range(oldest + width, now_ms, width):
            window = self._collector.collect(config, thresholds_ns, at, live=False)
            for job, outcome in self._spread.run(self._past(config, window, at), len(config.pools)):
                if isinstance(outcome, Stepped):
                    self._states[job.key] = outcome.state
                else:
                    self._problems.failed(f"evidence of {job.key}", _error(outcome))

    def _past(self, config: Config, window: Window, at_ms: int) -> Iterator[Job]:
        """What a window of the past shows, without a decision."""
        for pool in config.pools:
            key, state = pool.key, self._states.get(pool.key, PoolState())
            try:
                past = Past(self._new(pool, state, window), self._scalings.course(key).now.version)
            except Exception as cause:
                self._problems.failed(f"evidence of {key}", cause)
                continue
            yield Job(key, state, past, at_ms)

    def _upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """Paths that cannot be read do not take the answers away: what was last known stands in."""
        try:
            seen = self._collector.upstream(config, now_ms)
        except Exception as cause:
            self._problems.failed("upstream times", cause)
            return {}
        self._problems.succeeded("upstream times")
        return seen

    def _decide(
        self, config: Config, thresholds: Mapping[PoolKey, Threshold], window: Window, now_ms: int
    ) -> list[Answer]:
        targets = {pool.key: self._sizes.targets(pool.key, now_ms) for pool in config.pools}
        estimates = named(config.pools, window, targets, self._sizes, self._workers, self._problems)
        bound = self._constraints(config, window, targets, now_ms)
        answers: dict[PoolKey, Answer] = {}

        def seen() -> Iterator[Job]:
            for pool in config.pools:
                key, course = pool.key, self._scalings.course(pool.key)
                state, threshold, estimate = self._states.get(key, PoolState()), thresholds[key], estimates.get(key)
                about = _About(pool, threshold, targets[key], course, None, estimate)
                try:
                    buckets = self._new(pool, state, window)
                    of = observation(pool, targets[key], buckets, course, threshold, bound[key], estimate)
                    about = about._replace(windows=windows_of(window, key, estimate))
                except Exception as cause:
                    answers[key] = self._answer(about, Failed(type(cause).__name__, str(cause)), now_ms)
                    continue
                yield Job(key, state, of, now_ms, about)

        for job, outcome in self._spread.run(seen(), len(config.pools)):
            answers[job.key] = self._answer(job.about, outcome, now_ms)
        return [answers[pool.key] for pool in config.pools]

    def _answer(self, about: _About, outcome: Stepped | Failed, now_ms: int) -> Answer:
        """One pool that fails does not take the others' answers away; its own ages."""
        key = about.pool.key
        try:
            if not isinstance(outcome, Failed):
                made = self._made(about, outcome, now_ms)
                self._states[key] = outcome.state
                self._problems.succeeded(f"decision of {key}")
                return made
            cause = outcome
        except Exception as problem:
            cause = Failed(type(problem).__name__, str(problem))
        self._problems.failed(f"decision of {key}", _error(cause))
        before = self._store.last(key)
        if before is not None:
            return self._aged(before, now_ms)
        return failed(about.pool, about.threshold, about.targets, cause, now_ms)

    def _made(self, about: _About, stepped: Stepped, now_ms: int) -> Answer:
        pool, threshold, targets, course, windows, estimate = about
        if stepped.decision is None:
            raise ValueError("nothing was decided")
        learnt, cores = stepped.state.learnt, stepped.cores
        made = answer(pool, stepped.decision, learnt, cores, course, threshold, targets, windows, estimate, now_ms)
        return replace(made, content=settled(self._store.content(pool.key), made.content))

    def _constraints(self, config: Config, window: Window, targets: Targets, now_ms: int) -> dict[PoolKey, Constraints]:
        """What binds each pool, by the states of all."""
        instances = {
            pool.key: max(self._scalings.replicas(pool.service) or 0, instances_of(window, pool.key))
            for pool in config.pools
            if config.backends
        }
        limits = ceilings_of(config, self._states, targets, instances)
        if config is not self._paths_of:
            self._paths, self._paths_of = paths((pool.key, pool.slo) for pool in config.pools), config
        wait = waiting(self._states, self._paths, now_ms)
        return {
            pool.key: constraints(pool, limits.get(pool.key), self._pauses.of(pool.key), pool.key not in wait, now_ms)
            for pool in config.pools
        }

    def _new(self, pool: Pool, state: PoolState, window: Window) -> Buckets:
        """What came since the evidence that there is."""
        key, whole, course = pool.key, window.whole.get(pool.key), self._scalings.course(pool.key)
        if whole is None:
            return NO_BUCKETS
        since_ms = state.learnt.until_ms
        new = whole.since(since_ms)
        size = self._sizes.limits(key, new.start_ms)
        if size is not None and np.isnan(size).any():
            names = self._sizes.instances(key)
            each = {name: of.since(since_ms) for name, of in window.each(key, names).items()} if len(names) > 1 else {}
            found = by_target(
                key, each, {name: self._sizes.of_target(key, name, of.start_ms) for name, of in each.items()}, course
            )
            if len(found):
                return found
        return buckets_of(key, new, size, course)

    def _publish(self, answers: list[Answer], config: Config, now_ms: int) -> None:
        """Stored, where the stores let us, before anybody is told: then a kill -9 can neither give a revision out twice
        with different content, nor forget what was decided."""
        numbered = self._store.number(answers)
        self._history.record(numbered)
        self._log.record(self._states)
        if self._log.counts.failures == 0:
            self._log.flush(WRITE_FIRST_S)
        # The lease begins here: what deciding and storing took is not taken from it.
        until_ms = self._clock() + int(max(config.lease, LEASE_PERIODS * self.period_ms))
        self._store.publish(
            [replace(one, valid_until_ms=until_ms) if one.computed_at_ms == now_ms else one for one in numbered]
        )

    def _age(self, now_ms: int) -> None:
        """Marks answers whose lease is over; before the first period there is none to mark."""
        if not self._store.ready:
            return
        answers = self._store.newest()
        aged = [self._aged(one, now_ms) for one in answers]
        if aged != answers:
            numbered = self._store.number(aged)
            self._history.record(numbered)
            self._store.publish(numbered)

    def _aged(self, one: Answer, now_ms: int) -> Answer:
        return one.stale(self._sizes.targets(one.key, now_ms)) if now_ms > one.valid_until_ms else one


def _error(cause: Failed) -> Exception:
    return RuntimeError(f"{cause.kind}: {cause.text}")
