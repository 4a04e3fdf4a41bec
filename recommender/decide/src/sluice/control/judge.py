"""From a window of measurements to a proposal for every pool: estimates, what they stand on, what is on trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sluice.collect import Measured, Window
from sluice.config import Config, Pool
from sluice.control.grounds import Ground, Grounds
from sluice.control.problems import Problems
from sluice.control.scalings import Scalings
from sluice.control.sizes import Sizes, TargetSize, one_size
from sluice.control.trials import Trials
from sluice.control.workers import Workers
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Estimate, Reason, State, full_pool
from sluice.pools.estimate.attempt import Failed, Outcome
from sluice.pools.estimate.collapse import Collapse
from sluice.pools.estimate.memory import Carried, carried_over
from sluice.pools.estimate.samples import Samples
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.guard.hold import propose
from sluice.pools.guard.situation import LastGood, Proposal, Situation

# A pool that is about to be scaled is looked at over so long: one period of most autoscalers.
SHORT_MS = 15_000


@dataclass(frozen=True)
class Seen:
    """One pool in one period, before the guard. instances: of its service, as last seen. targets: their sizes."""

    pool: Pool
    measured: Measured | None
    ground: Ground
    estimate: Estimate
    situation: Situation
    proposal: Proposal
    instances: int
    targets: tuple[TargetSize, ...] = ()


class Judge:
    """For the control loop's thread alone; keeps what is on trial, and how many instances each service had."""

    def __init__(
        self,
        grounds: Grounds,
        scalings: Scalings,
        sizes: Sizes,
        workers: Workers,
        problems: Problems,
        last_good: Callable[[PoolKey], LastGood | None],
        last_target: Callable[[PoolKey], int | None],
    ) -> None:
        self._grounds, self._scalings, self._sizes = grounds, scalings, sizes
        self._workers, self._problems, self._last_good = workers, problems, last_good
        self._last_target = last_target
        self._trials = Trials()
        self._instances: dict[PoolKey, int] = {}

    def see(self, config: Config, thresholds: dict[PoolKey, Threshold], window: Window, now_ms: int) -> list[Seen]:
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
            self._trials.forget(key)
            measured = measured.since(outcome.shift.since_ms)
        if measured is not None:
            self._instances[key] = measured.samples.instances
            self._grounds.learn(
                key, ground, estimate, measured, pool.model, threshold.value_ms, now_ms, int(config.window)
            )
        if isinstance(outcome, Failed):
            measured = whole = None  # what cannot be estimated is no ground for anything else either
        collapse = outcome.collapse if isinstance(outcome, Outcome) else None
        targets = self._sizes.targets(key, now_ms)
        current = one_size(targets)
        situation = self._situation(
            config, pool, ground, measured, whole, collapse, current, threshold.value_ms, now_ms
        )
        proposal = propose(estimate, situation)
        self._try(key, current, estimate, proposal, measured.samples if measured else None, now_ms)
        return Seen(pool, measured, ground, estimate, situation, proposal, self._instances.get(key, 1), targets)

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
            self._trials.began(key, current, target, samples, now_ms)
        elif estimate.state is State.PROVIDED and target < current and not proposal.measured:
            self._trials.shrank(key, current, target, samples)

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
        return full_pool.is_limited(samples) and full_pool.works_hardest_when_full(samples)

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
        collapse: Collapse | None,
        current: int | None,
        threshold_ms: float,
        now_ms: int,
    ) -> Situation:
        key, window_ms = pool.key, int(config.window)
        unchanged_ms = self._sizes.unchanged_ms(key, now_ms)
        samples = measured.samples if measured else None
        served = samples is not None and full_pool.serves(samples)
        tried = self._trials.judge(key, current, unchanged_ms, window_ms, samples, now_ms)
        return Situation(
            now_ms=now_ms,
            current=current,
            unchanged_ms=unchanged_ms,
            last_good=self._last_good(key),
            window_ms=window_ms,
            explore_after_ms=int(config.explore_after),
            heading=self._last_target(key),
            since_change_ms=self._sizes.since_change_ms(key, now_ms),
            since_ms=ground.since_ms,
            prior=ground.prior,
            back=tried.back,
            failed_up_ms=tried.failed_up_ms,
            failed_down_ms=tried.failed_down_ms,
            stands_ms=tried.stands_ms,
            gained=tried.gained,
            lost=tried.lost,
            collapse=collapse,
            served=served,
            carried=None if ground.since_ms is None else self._carried(key, ground),
            short_lately=ground.since_ms is not None and self._short_lately(key, whole),
            starving=samples is not None and full_pool.starves(samples),
            futile=served or (samples is not None and full_pool.late_inside(samples, threshold_ms / 1000)),
        )
