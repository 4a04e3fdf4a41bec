"""The facts after a decision: the change that it begins, the baseline, and what the guard knows of the size left."""

from __future__ import annotations

from dataclasses import replace

from sluice.fast.changed import changed
from sluice.model.states import State
from sluice.pools.policy.decision import Action, Decision
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import decided_for
from sluice.pools.policy.state import Change, Facts, PoolState
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trust import REFUSED_MS, left, refusing
from sluice.pools.policy.view import View

# A size is good that loses less than this part against the best one.
GOOD_LOSS = 0.01


def facts_after(
    case: Case, state: PoolState, observation: Observation, decision: Decision, view: View, now_ms: int
) -> Facts:
    """The next facts. state: the previous facts, with the evidence of this step."""
    facts, learnt = state.facts, state.learnt
    change, trust = _change(case, facts, decision, view, now_ms), facts.trust
    if change is not None and change is not facts.change and change.from_size == view.current:
        trust = left(trust, change.from_size, learnt.beats, observation.cores, learnt.lag_ms)
        if observation.named is not None and observation.named.unpaid:
            trust = refusing(trust, change.from_size, change.to_size, REFUSED_MS, now_ms)
    good = view.current is not None and decision.loss is not None and decision.loss < GOOD_LOSS
    good = good and decision.state is State.PROVIDED
    return changed(
        facts,
        now_ms=now_ms,
        current=view.current if view.current is not None else facts.current,
        change=change,
        baseline=view.current if good else facts.baseline,
        state=decision.state if view.outlook is not None else facts.state,
        trust=trust,
    )


def _change(case: Case, facts: Facts, decision: Decision, view: View, now_ms: int) -> Change | None:
    """The newest change after a decision."""
    change, target, current, targets = facts.change, decision.target, view.current, decision.targets
    if view.wave is not None and case is Case.WAVE_ON:
        return replace(view.wave, at_ms=now_ms, targets=targets)
    if view.wave is not None and case is Case.WAVE_BACK:
        return Change(view.wave.to_size, view.wave.from_size, now_ms, decision.basis)
    if decision.action is Action.APPLY and target is not None and current is not None and target != current:
        if change is not None and target == decided_for(facts, current):
            return replace(change, targets=targets)
        return Change(current, target, now_ms, decision.basis, targets)
    if change is not None and current == change.to_size and view.wave is None:
        return replace(change, targets=())
    # Somebody else's size replaced the change.
    return None if view.foreign else change
