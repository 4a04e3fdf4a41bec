"""Makes each pool's observation from a period's readings and the states of all pools. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from sluice.fast.changed import changed
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.guard.backends import BackendDemand as Wanted
from sluice.pools.guard.backends import Ceiling, ceilings
from sluice.pools.inputs.occupancy import occupancy
from sluice.pools.inputs.scalings import Course
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.metrics.in_force import by_metrics
from sluice.pools.policy.observation import NO_BUCKETS, Buckets, Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.pool_step import PoolStep, WindowSummary
from sluice.pools.section import Pool, PoolsSection
from sluice.pools.windows import Window


def observation(pool_step: PoolStep, buckets: Buckets, constraints: Constraints, demand: Demand | None) -> Observation:
    """demand: None without a new one."""
    deployments, targets = pool_step.course.now, pool_step.targets
    return Observation(
        sizes={target.instance: target.size for target in targets},
        buckets=buckets,
        cores=deployments.cores(pool_step.pool.side),
        slo_s=pool_step.threshold.value_ms / 1_000 if pool_step.threshold.is_known else inf,
        version=deployments.version,
        constraints=constraints,
        named=pool_step.estimate,
        demand=demand,
        replicas=deployments.own.replicas,
        occupancy=occupancy((target.occupancy for target in targets), pool_step.now_ms),
        read_ms=max((target.read_at_ms for target in targets), default=None),
        from_metrics=by_metrics(targets),
        by_hand=bool(targets) and all(target.recommends for target in targets),
        may_apply=pool_step.threshold.applies,
        sampling=pool_step.sampling,
    )


def buckets_of(key: PoolKey, new: Buckets, size: Floats | None, course: Course) -> Buckets:
    """size: in force in each bucket of `new`, shape (n,), NaN where targets differed; None without any report."""
    if size is None or len(new) == 0:
        # Not marked as learnt: once a size is known, the same window is read again with it.
        return NO_BUCKETS
    return changed(new, size=size, cores=course.cores(key, new.start_ms), instances=None)


def by_target(
    key: PoolKey, by_instance: Mapping[str, Buckets], sizes: Mapping[str, Floats | None], course: Course
) -> Buckets:
    """While targets differ: each target's buckets under its own size, one target after the other within a second.

    by_instance: buckets by the instance in spans. sizes: of its target in each of its buckets. Targets without
    spans are left out.
    """
    known = [(name, of) for name, of in by_instance.items() if len(of) and sizes.get(name) is not None]
    if not known:
        return NO_BUCKETS
    start_ms = np.concatenate([of.start_ms for _, of in known])
    which = np.repeat(np.arange(len(known)), [len(of) for _, of in known])
    order = np.lexsort((start_ms, which, start_ms // 1_000))
    size = np.concatenate([sizes[name] for name, _ in known])
    return Buckets(
        start_ms[order],
        np.concatenate([of.concurrency for _, of in known])[order],
        np.concatenate([of.completions for _, of in known])[order],
        known[0][1].bucket_s,
        size[order],
        course.cores(key, start_ms[order]),
        np.concatenate([of.errors for _, of in known])[order],
        known_ms=known[0][1].known_ms,
    )


def constraints(
    pool: Pool, ceiling: Ceiling | None, pause: Pause | None, may_look: bool, now_ms: int, callee: str = ""
) -> Constraints:
    least, most = pool.bounds.min, pool.bounds.max
    quiet = next((f"{hours} UTC" for hours in pool.quiet_hours if hours.hold(now_ms)), "")
    bound = ceiling is not None and ceiling.size < most
    return Constraints(
        least=least,
        most=ceiling.size if ceiling is not None and bound else most,
        may_look=may_look,
        quiet=quiet,
        paused=f"by {pause.by}: {pause.why}" if pause is not None else "",
        set_to=pause.size if pause is not None else None,
        own_most=most,
        horizon_ms=int(pool.remember),
        callee=callee,
        why=ceiling.text if ceiling is not None and bound else "",
    )


def ceilings_of(
    config: PoolsSection,
    states: Mapping[PoolKey, PoolState],
    targets: Mapping[PoolKey, tuple[TargetSize, ...]],
    instances: Mapping[PoolKey, int],
) -> dict[PoolKey, Ceiling]:
    """Each pool's share of backends' capacities. A pool without a size gets none. instances: of its service."""
    limits: dict[PoolKey, Ceiling] = {}
    for backend in config.backends:
        demands = {
            pool.key: demand
            for pool in config.pools
            if pool.side == "client" and pool.peer == backend.peer
            for demand in (_demand(states.get(pool.key), targets[pool.key], instances[pool.key]),)
            if demand is not None
        }
        limits |= ceilings(backend.peer, backend.capacity, demands)
    return limits


def _demand(state: PoolState | None, targets: tuple[TargetSize, ...], instances: int) -> Wanted | None:
    read = [target.size for target in targets if target.size is not None]
    decided = state.facts.pool if state is not None and read else None
    size = max([*read, *([decided] if decided is not None else [])], default=None)
    if size is None:
        return None
    wanted = state.learnt.wanted if state is not None else None
    return Wanted(wanted or size, size, max(instances, len(targets), 1))


def instances_of(window: Window, key: PoolKey) -> int:
    """The largest number of instances at one time; 1 without any."""
    whole = window.complete.get(key)
    return whole.most_instances if whole is not None else 1


def windows_of(window: Window, key: PoolKey, estimate: Estimate | None) -> WindowSummary | None:
    """The windows behind an answer; for a published model, only buckets with something in flight."""
    if estimate is not None:
        measured = window.pools[key]
        if measured is None:
            return None
        samples = measured.samples
        return WindowSummary(
            measured.start_ms,
            measured.end_ms,
            measured.bucket_ms,
            len(samples),
            measured.completions,
            samples.instances,
            samples.caller_judged,
        )
    whole = window.complete.get(key)
    if whole is None or len(whole) == 0:
        return None
    start_ms, end_ms = int(whole.start_ms[0]), int(whole.start_ms[-1]) + whole.bucket_ms
    return WindowSummary(start_ms, end_ms, whole.bucket_ms, len(whole), whole.all_completions, whole.most_instances)
