"""The control loop: collect -> estimate -> guard -> publish, once per period."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sluice.collect import Measured, Window
from sluice.config import Config, Pool, PoolKey
from sluice.estimate import Estimate, Reason, State, evidence
from sluice.estimate.attempt import Failed, Outcome
from sluice.estimate.collapse import find_collapse
from sluice.estimate.memory import Carried, carried_over
from sluice.estimate.samples import Samples
from sluice.estimate.threshold import Asked, Threshold, UpstreamTime
from sluice.guard.backends import Ceiling, Demand, ceilings
from sluice.guard.hold import Proposal, Situation, propose
from sluice.serve.answer import Answer
from sluice.serve.curves import Curves, Kept
from sluice.serve.decide import decide
from sluice.serve.explorations import Explorations
from sluice.serve.grounds import Ground, Grounds
from sluice.serve.pauses import Pause, Pauses
from sluice.serve.problems import Problems
from sluice.serve.scalings import Scaling, Scalings
from sluice.serve.sizes import Sizes
from sluice.serve.store import Memory, Store
from sluice.serve.thresholds import Thresholds
from sluice.serve.workers import Workers

# A pool that is about to be scaled is looked at over so long: one period of most autoscalers.
SHORT_MS = 15_000

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


@dataclass(frozen=True)
class Seen:
    """One pool in one period, before the guard."""

    pool: Pool
    measured: Measured | None
    ground: Ground
    estimate: Estimate
    situation: Situation
    proposal: Proposal


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
        self._workers = workers or Workers()
        self._grounds, self._explorations = Grounds(self._scalings, Curves()), Explorations()
        self._collector, self._history, self._store = collector, history, store
        self._sizes, self._clock = sizes, clock
        self._problems = Problems()
        self._thresholds = Thresholds()
        self._restored = False
        self._instances: dict[PoolKey, int] = {}

    def step(self) -> None:
        """One period. Never raises: what fails is logged once per cause, and answers age until it works again."""
        config, now_ms = self.config, self._clock()
        try:
            self._restore()
            thresholds = self._thresholds.of(config, self._upstream(config, now_ms), now_ms)
            window = self._collector.collect(config, {key: t.value_ns for key, t in thresholds.items()}, now_ms)
            seen = self._see(config, thresholds, window, now_ms)
            limits = self._ceilings(config, seen)
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
                )
                for one in seen
            ]
            self._publish(answers)
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
            answer.stale(self._sizes.current(answer.key, now_ms)) if now_ms > answer.valid_until_ms else answer
            for answer in answers
        ]
        if aged != answers:
            self._publish(aged)

    def _see(self, config: Config, thresholds: dict[PoolKey, Threshold], window: Window, now_ms: int) -> list[Seen]:
        """Every pool before the guard. Estimates are made all at once: many go to worker processes."""
        grounds = {
            key: self._grounds.of(key, threshold.value_ms, now_ms, int(config.window))
            for key, threshold in thresholds.items()
        }
        found = {key: self._usable(key, window.pools[key], ground) for key, ground in grounds.items()}
        jobs = [self._grounds.job(pool.key, pool.model, grounds[pool.key], found[pool.key]) for pool in config.pools]
        outcomes = self._workers.run(jobs)
        return [
            self._judge(
                config,
                pool,
                thresholds[pool.key],
                grounds[pool.key],
                found[pool.key],
                window.pools[pool.key],
                outcome,
                now_ms,
            )
            for pool, outcome in zip(config.pools, outcomes, strict=True)
        ]

    def _judge(
        self,
        config: Config,
        pool: Pool,
        threshold: Threshold,
        ground: Ground,
        measured: Measured | None,
        whole: Measured | None,
        outcome: Outcome | Failed,
        now_ms: int,
    ) -> Seen:
        """`whole`: the window that `measured` was cut from."""
        key = pool.key
        estimate = self._estimate(key, outcome)
        if isinstance(outcome, Outcome) and outcome.shift is not None and measured is not None:
            ground = self._grounds.drifted(key, ground, outcome.shift, now_ms)
            self._explorations.forget(key)
            measured = measured.since(outcome.shift.since_ms)
        if measured is not None:
            self._instances[key] = measured.samples.instances
            self._grounds.learn(
                key, ground, estimate, measured, pool.model, threshold.value_ms, now_ms, int(config.window)
            )
        if isinstance(outcome, Failed):
            measured = whole = None  # what cannot be estimated is no ground for anything else either
        situation = self._situation(config, pool, ground, measured, whole, threshold.value_ms, now_ms)
        proposal = propose(estimate, situation)
        self._try(key, situation.current, estimate, proposal, measured.samples if measured else None, now_ms)
        return Seen(pool, measured, ground, estimate, situation, proposal)

    def _try(
        self,
        key: PoolKey,
        current: int | None,
        estimate: Estimate,
        proposal: Proposal,
        samples: Samples | None,
        now_ms: int,
    ) -> None:
        """A size on trial is remembered with what the one before it did."""
        target = proposal.target
        if current is None or target is None or target == current:
            return
        if proposal.explores:
            self._explorations.began(key, current, target, samples, now_ms)
        elif estimate.state is State.PROVIDED and target < current and not proposal.measured:
            self._explorations.shrank(key, current, target, samples)

    def _ceilings(self, config: Config, seen: list[Seen]) -> dict[PoolKey, Ceiling]:
        """What backends leave to each pool; one that has no size yet asks for nothing."""
        limits: dict[PoolKey, Ceiling] = {}
        for backend in config.backends:
            demands = {
                one.pool.key: Demand(size, self._instances.get(one.pool.key, 1))
                for one in seen
                if one.pool.side == "client" and one.pool.peer == backend.peer
                for size in (one.proposal.target or one.situation.current,)
                if size is not None
            }
            limits |= ceilings(backend.peer, backend.capacity, demands)
        return limits

    def _usable(self, key: PoolKey, measured: Measured | None, ground: Ground) -> Measured | None:
        """The buckets since the pool stands on its ground of now, with the size in force in each."""
        if measured is not None and ground.since_ms is not None:
            measured = measured.since(ground.since_ms)
        if measured is None:
            return None
        limits = self._sizes.limits(key, measured.bucket_start_ms)
        return replace(measured, samples=replace(measured.samples, limit=limits, start_ms=measured.bucket_start_ms))

    def _short_lately(self, key: PoolKey, measured: Measured | None) -> bool:
        """Whether the pool was too small in the newest `SHORT_MS`, before or after scaling: full, not thrashing."""
        newest = measured.since(measured.end_ms - SHORT_MS) if measured is not None else None
        if newest is None:
            return False
        samples = replace(newest.samples, limit=self._sizes.limits(key, newest.bucket_start_ms))
        return evidence.is_limited(samples) and evidence.works_hardest_when_full(samples)

    def _carried(self, key: PoolKey, ground: Ground) -> Carried | None:
        left = [(footing, self._sizes.at(key, ended_ms)) for footing, ended_ms in self._scalings.left(key)]
        return carried_over([(footing, size) for footing, size in left if size is not None], ground.footing)

    def _estimate(self, key: PoolKey, outcome: Outcome | Failed) -> Estimate:
        """One pool that cannot be estimated does not take the others' answers away."""
        if isinstance(outcome, Failed):
            text = f"{outcome.kind}: {outcome.text}"
            self._problems.failed(f"estimate of {key}", RuntimeError(text))
            return Estimate(State.LEARNING, (Reason("ESTIMATE_FAILED", text),))
        self._problems.succeeded(f"estimate of {key}")
        return outcome.estimate

    def _situation(
        self,
        config: Config,
        pool: Pool,
        ground: Ground,
        measured: Measured | None,
        whole: Measured | None,
        threshold_ms: float,
        now_ms: int,
    ) -> Situation:
        key, window_ms = pool.key, int(config.window)
        current, unchanged_ms = self._sizes.current(key, now_ms), self._sizes.unchanged_ms(key, now_ms)
        samples = measured.samples if measured else None
        tried = self._explorations.judge(key, current, unchanged_ms, window_ms, samples, now_ms)
        return Situation(
            now_ms=now_ms,
            current=current,
            unchanged_ms=unchanged_ms,
            last_good=self._store.last_good(key),
            window_ms=window_ms,
            explore_after_ms=int(config.explore_after),
            since_change_ms=self._sizes.since_change_ms(key, now_ms),
            since_ms=ground.since_ms,
            prior=ground.prior,
            back=tried.back,
            failed_up_ms=tried.failed_up_ms,
            failed_down_ms=tried.failed_down_ms,
            stands_ms=tried.stands_ms,
            gained=tried.gained,
            lost=tried.lost,
            collapse=None if samples is None else find_collapse(samples),
            served=samples is not None and evidence.serves(samples),
            carried=None if ground.since_ms is None else self._carried(key, ground),
            short_lately=ground.since_ms is not None and self._short_lately(key, whole),
            starving=samples is not None and evidence.starves(samples),
            futile=samples is not None and _futile(samples, threshold_ms),
        )


def _futile(samples: Samples, threshold_ms: float) -> bool:
    return evidence.serves(samples) or evidence.late_inside(samples, threshold_ms / 1000)
