"""Joint advice on the hardware under a server pool, beside its size. Sora (4.1) and uConAdapter (4.2) leave it open.
Sluice does not carry advice out: a hardware autoscaler may read it, or a person.

Every 10 s a reading (`Demand`) has the demand on one instance in the last minute.

SCALE_OUT  No size completes the demand in time on this CPU limit. A reading counts for it when 10 % of the demand or
           more is late, the pool is full (0.9 of the time), its size is expected to be within 3 % of the best, and no
           bound keeps it off a better one. It begins at six readings for it, less those against it, and ends when as
           many are against it. While it lasts, 5 % late counts for it.
SCALE_IN   Half of the CPU limit, or half of the replicas, would complete the demand with a fifth to spare, with 90 %
           probability, and 1 % is late at most. It begins at sixty readings (ten minutes). One reading against it
           ends it, and takes ten off the count.
KEEP       Neither.

The factor to scale out by is demand / (0.8 x completions of the best size), in quarters, 1.25 to 2. It is the largest
since the advice began, so that it does not fall with each second's noise. More cores are advised only where the belief
expects 5 % more from them. Another CPU limit, other replicas or another version starts all counts again: the effect of
a scaling judges it.

Worked: the demand is 450 a second on an instance of 4 cores, whose best size does 364: 450 / (0.8 x 364) = 1.55, so
1.75: 7 cores, or 4 replicas instead of 2. Then the demand on each is 225, of which half of the replicas would have 450:
no SCALE_IN.

There is no advice where its basis is missing: no belief, no single size in force, a published model decides, no reading
for two minutes, or requests stay longer than the threshold at every size. (More hardware does not help a service that
is slower than its SLO when idle.) SCALE_OUT needs 10 s of a saturated pool on this CPU limit and callers' spans,
SCALE_IN 10 s on any.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from sluice.fast.worth import FULL_SHARE, LOOK_SHARE
from sluice.model.demand import Demand
from sluice.pools.estimate.belief.evidence import TAU_ELSEWHERE, UNREPORTED
from sluice.pools.estimate.belief.family import LN_SIZES, SIZES, Floats
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.decision import Advice, Advised, Decision
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Learnt, Standing
from sluice.pools.policy.view import View

# Parts of the demand that are late: to begin SCALE_OUT, to keep it, and at most for SCALE_IN.
SHORT_BY, STILL_SHORT_BY, HARDLY = 0.10, 0.05, 0.01
# Below this loss the size in force counts as the best.
BEST_LOSS = 0.03
SHORT_READINGS, SPARE_READINGS, AGAINST_SPARE = 6, 60, 10
# With fewer seconds of a saturated pool a curve is mostly the prior of any service.
LEAST_SATURATED_S = 10.0
# Plans count on this part of the best size's completions.
PLANNED = 0.8
STEP, LEAST_FACTOR, MOST_FACTOR = 0.25, 1.25, 2.0
CORES_GAIN = 1.05
# So many deviations below the mean: 90 % of a normal distribution lies above.
SURELY = 1.28
STALE_MS = 120_000


def advise(
    last: Standing, observation: Observation, view: View, learnt: Learnt, full_share: float, now_ms: int
) -> Standing:
    """The next standing. full_share: share of the newest seconds in which the pool was full, 0..1."""
    demand, kept = observation.demand, learnt.kept
    if demand is None or not demand.of_threads or demand.until_ms <= last.until_ms:
        stale = last.advice is not None and now_ms - last.until_ms > STALE_MS
        return Standing(until_ms=last.until_ms) if stale else last
    stood = last.advice if _same_hardware(last, observation) else None
    fresh = Standing(demand.until_ms, cores=observation.cores, replicas=observation.replicas or 0)
    if kept is None or view.outlook is None or view.current is None or observation.named is not None:
        return fresh
    best, does = _best(kept.now, 1.0, observation.constraints, observation.slo_s, view.current)
    if best is None:
        return fresh
    counts = last if _same_hardware(last, observation) else fresh
    kind_before = stood.kind if stood is not None else None
    short = _short(demand, view, learnt, observation.cores, full_share, kind_before is Advised.SCALE_OUT)
    halves: tuple[float | None, int | None] = (None, None)
    if not short and _spare(demand, learnt, full_share):
        halves = _half_cores(kept.now, observation, demand, view.current), _half_replicas(observation, demand, does[1])
    fresh = replace(
        fresh,
        short=min(counts.short + 1, SHORT_READINGS) if short else max(counts.short - 1, 0),
        spare=min(counts.spare + 1, SPARE_READINGS) if any(halves) else max(counts.spare - AGAINST_SPARE, 0),
    )
    kind = _kind(fresh, kind_before, any(halves))
    to = halves
    if kind is Advised.SCALE_OUT:
        to = _more(kept.now, observation, demand, does[0], stood)
    elif kind is Advised.KEEP:
        to = observation.cores or None, observation.replicas
    advice = Advice(
        kind=kind,
        since_ms=stood.since_ms if stood is not None and stood.kind is kind else demand.until_ms,
        asked_per_s=demand.asked_per_s,
        in_time=demand.in_time,
        best=best,
        best_per_s=does[0],
        cores=observation.cores or None,
        replicas=observation.replicas,
        to_cores=to[0],
        to_replicas=to[1],
    )
    return replace(fresh, advice=advice)


def with_advice(decision: Decision, advice: Advice | None) -> Decision:
    """Adds the advice to the decision, and a reason for people where there is something to do."""
    if advice is None:
        return decision
    if advice.kind is Advised.KEEP:
        return replace(decision, advice=advice)
    return replace(decision, advice=advice, reasons=(*decision.reasons, (advice.kind.value, text_of(advice))))


def text_of(advice: Advice) -> str:
    """`no size completes the demand in time: 450 a second to an instance, 78% in time; size 16 completes 364; 7 cores
    each or 4 replicas would do`."""
    would = [f"{advice.to_cores:g} cores each" if advice.to_cores else ""]
    would += [f"{advice.to_replicas} replicas" if advice.to_replicas else ""]
    head = (
        "no size completes the demand in time" if advice.kind is Advised.SCALE_OUT else "half would complete the demand"
    )
    late = "" if advice.in_time is None else f", {advice.in_time:.0%} in time"
    demand = (
        f"{advice.asked_per_s:.4g} a second to an instance{late}; size {advice.best} completes {advice.best_per_s:.4g}"
    )
    named = " or ".join(filter(None, would))
    return f"{head}: {demand}" + (f"; {named} would do" if named else "")


def on_cores(now: Posterior, factor: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of ln X at `SIZES` in a full pool with `factor` times the cores, (N,) each."""
    every = np.ones(len(SIZES))
    if factor == 1.0:
        mean, variance = now.predict_each(SIZES.astype(np.float64), every > 0)
        return mean, np.sqrt(variance)
    ln_x = now.family.rows(LN_SIZES, every > 0, factor * every, now.shapes) + now.ln_speed[:, None]
    middle: Floats = now.weight @ ln_x
    deviation: Floats = np.sqrt(now.weight @ (ln_x - middle) ** 2 + now.speed_variance + TAU_ELSEWHERE**2)
    return middle, deviation


def _best(
    now: Posterior, factor: float, bound: Constraints, slo_s: float, current: int
) -> tuple[int | None, tuple[float, float]]:
    """The legal size that completes most in time, and its completions: expected, and at least with 90 % probability.

    None where requests stay longer than the threshold at any size (Little: n / X).
    """
    mean, deviation = on_cores(now, factor)
    legal = (min(bound.least, current) <= SIZES) & (max(bound.most, current) >= SIZES)
    legal &= LN_SIZES - mean < np.log(slo_s)
    if not legal.any():
        return None, (0.0, 0.0)
    best = int(np.where(legal, mean, -np.inf).argmax())
    surely = np.where(legal, mean - SURELY * deviation, -np.inf).max()
    return int(SIZES[best]), (float(np.exp(mean[best])), float(np.exp(surely)))


def _short(demand: Demand, view: View, learnt: Learnt, cores: float, full_share: float, stands: bool) -> bool:
    if demand.in_time is None or view.outlook is None or full_share < LOOK_SHARE:
        return False
    late = STILL_SHORT_BY if stands else SHORT_BY
    observation = _saturated_s(learnt, cores) >= LEAST_SATURATED_S
    return observation and 1 - demand.in_time >= late and view.outlook.loss < BEST_LOSS and view.outlook.beyond is None


def _spare(demand: Demand, learnt: Learnt, full_share: float) -> bool:
    """Whether half of the hardware may do: next to nothing is late, the pool is not full, and its curve is known."""
    late = demand.in_time is not None and 1 - demand.in_time > HARDLY
    return not (late or full_share >= FULL_SHARE or _saturated_s(learnt) < LEAST_SATURATED_S)


def _half_replicas(observation: Observation, demand: Demand, surely_per_s: float) -> int | None:
    """Half of the replicas; None where they would not do, or are unknown. surely_per_s: completions of the best
    size on one instance, exceeded with 90 % probability."""
    if observation.replicas is None or observation.replicas <= 1:
        return None
    half = ceil(observation.replicas / 2)
    return half if demand.asked_per_s * observation.replicas / half <= PLANNED * surely_per_s else None


def _half_cores(now: Posterior, observation: Observation, demand: Demand, current: int) -> float | None:
    """Half of the cores; None where they would not do, or are unknown."""
    # Nobody knows where an edge lies on other cores.
    if observation.cores == UNREPORTED or now.edge is not None:
        return None
    best, half_does = _best(now, 0.5, observation.constraints, observation.slo_s, current)
    return observation.cores / 2 if best is not None and demand.asked_per_s <= PLANNED * half_does[1] else None


def _more(
    now: Posterior, observation: Observation, demand: Demand, does: float, stood: Advice | None
) -> tuple[float | None, int | None]:
    """The cores, and the replicas, to scale out to."""
    needed = ceil(demand.asked_per_s / (PLANNED * does) / STEP) * STEP
    factor = min(max(needed, LEAST_FACTOR), MOST_FACTOR)
    replicas = ceil(observation.replicas * factor) if observation.replicas else None
    cores = None
    if observation.cores != UNREPORTED and now.edge is None:
        mean, _ = on_cores(now, factor)
        if float(np.exp(mean.max())) >= CORES_GAIN * does:
            cores = observation.cores * factor
    if stood is not None and stood.kind is Advised.SCALE_OUT:
        cores = max(cores or 0.0, stood.to_cores or 0.0) or None
        replicas = max(replicas or 0, stood.to_replicas or 0) or None
    return cores, replicas


def _kind(now: Standing, standing_kind: Advised | None, half_does: bool) -> Advised:
    """SCALE_OUT ends only after a minute of readings against it. SCALE_IN ends at the first reading against it."""
    if now.short == SHORT_READINGS or (standing_kind is Advised.SCALE_OUT and now.short > 0):
        return Advised.SCALE_OUT
    if half_does and now.spare == SPARE_READINGS:
        return Advised.SCALE_IN
    return Advised.KEEP


def _same_hardware(standing: Standing, observation: Observation) -> bool:
    return (standing.cores, standing.replicas) == (observation.cores, observation.replicas or 0)


def _saturated_s(learnt: Learnt, cores: float | None = None) -> float:
    """Seconds of evidence of a saturated pool; cores: None for any."""
    return sum(level.seconds for level in learnt.evidence.levels if level.saturated and cores in (None, level.cores))
