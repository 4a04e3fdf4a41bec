"""From an estimate to an answer: hold, guard, lease. Pure."""

from __future__ import annotations

from sluice.collect import Measured
from sluice.config import Config, Pool
from sluice.estimate import Estimate, State
from sluice.estimate.threshold import Threshold
from sluice.guard import guard, propose
from sluice.guard.hold import Situation
from sluice.guard.rules import Context
from sluice.serve.answer import Answer, Content


def decide(
    config: Config,
    pool: Pool,
    threshold: Threshold,
    measured: Measured | None,
    estimate: Estimate,
    situation: Situation,
) -> Answer:
    """The answer of this period, with revision 0: numbering is the store's."""
    proposal = propose(estimate, situation)
    target, unguarded, state = proposal.target, None, estimate.state.value
    reasons = estimate.reasons + proposal.reasons
    if target is not None:
        context = Context(pool.bounds, pool.max_step, situation.current, estimate.lower_bound, estimate.upper_bound)
        guarded = guard(target, context)
        target, unguarded = guarded.size, guarded.unguarded
        reasons += guarded.reasons
        if unguarded is not None and estimate.state is State.PROVIDED:
            state = "GUARDED"
    return Answer(
        key=pool.key,
        content=Content(
            state=state,
            current=situation.current,
            target=target,
            lower_bound=estimate.lower_bound,
            upper_bound=estimate.upper_bound,
            unguarded_target=unguarded,
            codes=tuple(reason.code for reason in reasons),
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
    )
