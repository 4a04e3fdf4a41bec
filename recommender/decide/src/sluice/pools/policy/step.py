"""The decision: `step(state, observation, now) -> (state', decision)`. It is pure; only the state remembers.

    learn (windows -> evidence) -> view (belief, and the size worth having next) -> case (the situation)
                                -> row of the table (transitions.py) -> target, basis, action (conclusion.py)
                                -> advice on the hardware (advise.py), which changes none of these

A change of the size is:
- A factor of 2 at most, within the constraints. A collapsing pool goes to the best size at once (reach.py).
- Once in 3 s, or once in 1 s down a curve that surely falls (case.py).
- At once where it goes back to a size that somebody else's change replaced, or away from one that did harm (harm.py).

A change is in force when a target reads it back; until then the decision stays APPLY. A pool with several targets gets
a change in waves (waves.py).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from sluice.fast.changed import changed
from sluice.model.states import State
from sluice.pools.policy.advise import advise, with_advice
from sluice.pools.policy.by_hand import made, standing, unmade
from sluice.pools.policy.case import case_of
from sluice.pools.policy.conclusion import SAMPLED, decision_of
from sluice.pools.policy.decision import Action, Advice, Advised, Decision
from sluice.pools.policy.facts import facts_after
from sluice.pools.policy.fullness import full_share
from sluice.pools.policy.learn import learn, of_version, with_lag
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reported import settled, shown, spans_full, with_occupancy
from sluice.pools.policy.scaled_size import judged_scaled, named_by_sample
from sluice.pools.policy.state import Change, Facts, PoolState
from sluice.pools.policy.sufficiency import judged
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.view import View, view_of
from sluice.pools.policy.watch import watch

NO_ACTUATOR = ("NO_ACTUATOR", "APPLY needs an actuator: none reports the size in force")
SLO_UNCONFIRMED = (
    "SLO_UNCONFIRMED",
    "APPLY needs an SLO or a threshold in the file, an SLO of a target, or derived_slo: {apply: true}",
)
COMPARES = ("COMPARES", "APPLY needs another model: the configured one serves comparison")
# Advice on the hardware needs one of these states and one of these cases.
KNOWN_STATES = frozenset({State.PROVIDED, State.GUARDED})
ADVISES = frozenset({Case.UNMEASURED, Case.BEST, Case.BETTER, Case.LOOK, Case.WAITING, Case.QUIET, Case.WAVE_ON})


def step(state: PoolState, observation: Observation, now_ms: int) -> tuple[PoolState, Decision]:
    """Returns the next state and the decision at `now_ms`, Unix time. Time never falls: a clock that was set back
    stands still."""
    now_ms = max(now_ms, state.facts.now_ms)
    version = of_version(state.learnt, observation.version)
    if observation.occupancy is not None:
        version = changed(version, spans_full_ms=spans_full(version.spans_full_ms, observation.buckets))
        if observation.occupancy.coarse and observation.from_metrics:
            version = changed(version, shown=shown(version.shown, observation.buckets))
    most = version.shown.part if observation.from_metrics else 0.0
    settled_ms = settled(state.facts.trust, observation.size, state.facts.current, observation.buckets)
    buckets = with_occupancy(observation.buckets, observation.occupancy, version.spans_full_ms, most, settled_ms)
    callee_waits = bool(observation.constraints.callee)
    holds = holds_of(observation)
    facts = unactuated(state.facts) if holds else made(state.facts, observation, now_ms)
    learnt = learn(version, buckets, facts.change, observation.slo_s, callee_waits, observation.constraints.horizon_ms)
    learnt = with_lag(learnt, version, buckets, now_ms)
    learnt = judged(changed(learnt, demand=observation.demand or learnt.demand), observation)
    unmeasured = bool(holds) or (observation.sampling is not None and observation.sampling.refuses)
    facts, verdict = (facts, None) if unmeasured else watch(facts, learnt, observation, now_ms)
    asked = unmade(state.learnt.proposed if holds else facts.change, observation, bool(holds))
    begun = facts if asked is None else changed(facts, change=None)
    view = changed(view_of(begun, learnt, observation, now_ms), verdict=verdict)
    if asked is not None:
        view = standing(view, asked, facts.trust, observation.constraints, now_ms)
    case = case_of(begun, learnt, observation, view, now_ms)
    decision = decision_of(case, begun, learnt, observation, view)
    if observation.slo_s == inf and decision.state is State.PROVIDED:
        decision = replace(decision, state=State.LEARNING)
    advised = advise(learnt.standing, observation, view, learnt, full_share(begun, learnt), now_ms)
    decision = with_advice(decision, advised.advice if _advises(case, decision.state, advised.advice) else None)
    proposed = _proposed(decision, observation, now_ms) if holds else None
    learnt = changed(learnt, wanted=_wanted(view, decision), standing=advised, proposed=proposed)
    evidence = judged_scaled(state.scaled, observation)
    named = named_by_sample(decision, evidence, observation) if case in SAMPLED else decision
    if holds:
        kept = changed(state.facts, now_ms=now_ms, state=decision.state if view.outlook is not None else facts.state)
        return PoolState(kept, learnt, evidence), unapplied(named, holds)
    facts = facts_after(case, PoolState(facts, learnt), observation, decision, view, now_ms)
    return PoolState(facts, learnt, evidence), named


def holds_of(observation: Observation) -> tuple[tuple[str, str], ...]:
    """Why nobody is to apply the decision, () where one may. A size that an operator sets rests on no threshold."""
    operator = observation.constraints.set_to is not None
    threshold = not observation.may_apply and not operator
    compares = observation.named is not None and observation.named.compares and not operator
    return (NO_ACTUATOR,) * observation.from_metrics + (SLO_UNCONFIRMED,) * threshold + (COMPARES,) * compares


def unactuated(facts: Facts) -> Facts:
    """The facts for a decision that nobody applies. No change of Sluice's is under way, and no size is
    somebody else's change: nobody applies decisions, and metrics lag behind."""
    return changed(facts, current=None, change=None)


def unapplied(decision: Decision, holds: tuple[tuple[str, str], ...]) -> Decision:
    """The decision where nobody is to apply it: to hold, for all instances."""
    reasons = tuple(reason for reason in decision.reasons if reason[0] != "WAVE")
    return replace(decision, action=Action.HOLD, targets=(), reasons=(*reasons, *holds))


def _advises(case: Case, state: State, advice: Advice | None) -> bool:
    """Whether enough is known to give advice. SCALE_OUT needs a size in force within 3 % of the best (advise.py);
    SCALE_IN needs a known curve."""
    known = state in KNOWN_STATES or (advice is not None and advice.kind is Advised.SCALE_OUT)
    return case in ADVISES and state is not State.UNSATURATED and known


def _wanted(view: View, decision: Decision) -> int | None:
    """The size that the pool asks of its backend."""
    return (view.outlook.beyond if view.outlook else None) or decision.unguarded


def _proposed(decision: Decision, observation: Observation, now_ms: int) -> Change | None:
    """The target of a decision that nobody is to apply, as a change that people may make."""
    size, target = observation.size, decision.target
    if size is None or target in (None, size):
        return None
    return Change(size, target, now_ms, decision.basis)
