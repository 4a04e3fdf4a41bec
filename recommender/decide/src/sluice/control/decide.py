"""From an estimate to an answer: hold, pause, guard, lease. Pure."""

from __future__ import annotations

from dataclasses import replace

from sluice.collect import Measured
from sluice.config import Config, Pool
from sluice.control.advice import advice
from sluice.control.answer import Answer, Content, untimed
from sluice.control.grounds import UNCHANGED, Ground
from sluice.control.pauses import Pause
from sluice.control.sizes import TargetSize, conditions
from sluice.pools.estimate import Estimate, Reason, State
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.guard import guard
from sluice.pools.guard.backends import Ceiling
from sluice.pools.guard.rules import Context
from sluice.pools.guard.situation import Proposal, Situation

# Reasons of answers in which a remembered curve has a part.
MEMORY = {"REMEMBERED", "REMEMBERED_SCALED", "AGREES_WITH_MEMORY"}


def decide(
    config: Config,
    pool: Pool,
    threshold: Threshold,
    measured: Measured | None,
    estimate: Estimate,
    situation: Situation,
    proposal: Proposal,
    ceiling: Ceiling | None = None,
    pause: Pause | None = None,
    ground: Ground = UNCHANGED,
    targets: tuple[TargetSize, ...] = (),
) -> Answer:
    """The answer of this period, with revision 0: numbering is the store's, and the lease begins when it is published.

    A paused pool is told its own size, or the last good one where that is unknown: never a new one.
    """
    target, unguarded, state = proposal.target, None, estimate.state.value
    reasons = estimate.reasons + proposal.reasons + threshold.reasons + ground.reasons
    reasons += measured.reasons if measured else ()
    # Also while paused: why the target is what it is does not change what the curve was read with.
    remembered = MEMORY & {reason.code for reason in reasons}
    if pause is not None:
        good = situation.last_good.target if situation.last_good else None
        target, state = situation.current or good, "PAUSED"
        reasons = (Reason("PAUSED", f"paused by {pause.by}: {pause.why}"), *estimate.reasons, *threshold.reasons)
    elif target is not None:
        context = Context(
            limits=pool,
            now_ms=situation.now_ms,
            current=situation.current,
            lower=estimate.lower_bound,
            upper=estimate.upper_bound,
            since_change_ms=situation.since_change_ms,
            ceiling=ceiling,
            heading=situation.heading,
            measured=proposal.measured,
        )
        guarded = guard(target, context)
        target, unguarded = guarded.size, guarded.unguarded
        reasons += guarded.reasons
        if unguarded is not None and estimate.state is State.PROVIDED:
            state = "GUARDED"
    reasons += conditions(targets)
    codes = tuple(reason.code for reason in reasons)
    unbounded = bool(targets) and all(each.size is None for each in targets)
    basis, action = advice(state, target, codes, unbounded=unbounded)
    return Answer(
        key=pool.key,
        content=Content(
            state=state,
            current=situation.current,
            target=target,
            lower_bound=estimate.lower_bound,
            upper_bound=estimate.upper_bound,
            unguarded_target=unguarded,
            codes=codes,
            basis=basis,
            action=action,
            sizes=untimed(targets),
        ),
        reasons=reasons,
        confidence=estimate.confidence,
        model=pool.model,
        computed_at_ms=situation.now_ms,
        valid_until_ms=situation.now_ms + int(config.lease),
        revision=0,
        threshold=threshold,
        estimate=estimate,
        measured=measured,
        ground=ground if remembered else replace(ground, prior=None),
        targets=targets,
    )
