"""The decision: `step(state, observation, now) -> (state', decision)`. It is pure; only the state remembers.

    learn (windows -> evidence) -> view (belief, and the size worth having next) -> case (the situation)
                                -> row of the table (transitions.py) -> target, basis, action
                                -> advice on the hardware (advise.py), which changes none of these

A change of the size is:
- A factor of 2 at most, within the constraints. A collapsing pool goes to the best size at once (reach.py).
- Once in 3 s, or once in 1 s down a curve that surely falls (case.py).
- At once where it goes back to a size that somebody else's change replaced, or away from one that did harm (harm.py).

A change is in force when a target reads it back; until then the decision stays APPLY. A pool with several targets gets
a change in waves (waves.py).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import erfc, inf, sqrt

from sluice.fast.changed import changed
from sluice.model.states import State
from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.advise import advise, with_advice
from sluice.pools.policy.by_hand import made, standing, unmade
from sluice.pools.policy.case import case_of, confidence_in, never_full, unseen
from sluice.pools.policy.decision import Action, Advice, Advised, Basis, Decision
from sluice.pools.policy.learn import learn, of_version, with_lag
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import decided_for, legal, near, of_most
from sluice.pools.policy.reported import settled, shown, spans_full, with_occupancy
from sluice.pools.policy.scaled_size import judged_scaled, named_by_sample
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.transitions import TABLE, TAKE_BACK, Case
from sluice.pools.policy.trust import REFUSED_MS, left, refusing
from sluice.pools.policy.view import KNOWN, LEAST_EVIDENCE_S, STARTS_S, View, full_share, judged, view_of
from sluice.pools.policy.waits import just_carried
from sluice.pools.policy.watch import watch
from sluice.pools.policy.waves import first_wave, next_wave, still_for
from sluice.pools.policy.worth import Outlook

# A size is good that loses less than this part against the best one.
GOOD_LOSS = 0.01
# A pool that is PROVIDED (view.py) stays so while the best size is known within this part.
STILL_KNOWN = 0.03
SAMPLED = frozenset({Case.SAMPLED, Case.TAIL_SAMPLED})
UNKNOWN_BEST = frozenset(
    {*TAKE_BACK, *SAMPLED, Case.NEVER_FULL, Case.IN_TIME, Case.SPANS_DISAGREE, Case.UNACCOUNTED, Case.CALLEE}
)
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
    decision = _decision(case, begun, learnt, observation, view)
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
    facts = _facts(case, PoolState(facts, learnt), observation, decision, view, now_ms)
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


def _decision(case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View) -> Decision:
    row, bound, chosen = TABLE[case], observation.constraints, view.choice.size if view.choice else None
    target = {
        "current": view.current if view.current is not None else facts.current,
        "chosen or baseline": chosen or facts.baseline,
        "pool": legal(near(facts.pool, view.current, facts), bound),
        "all": legal(near(_of_all(facts, observation), view.current, facts), bound),
        "inside": legal(view.replaced or decided_for(facts, view.current) or view.current, bound),
        "set": legal(bound.set_to, bound),
        "chosen": chosen,
        "taken back": legal(view.verdict.size, bound) if view.verdict else None,
    }[row.target]
    taken_back = case in TAKE_BACK and target == view.current
    # A pool that was never full, or whose spans are not its own, has no known best size.
    known = None if case in UNKNOWN_BEST else view.outlook
    range_ = known or _range_of(observation.named)
    # The size in force may be the best where no other size is known to be better.
    here = (view.current,) if case is Case.BEST and known is not None and view.current is not None else ()
    basis = row.basis or _basis(case, facts, learnt, observation, view)
    targets = _targets(case, facts, observation, view, target, basis)
    return Decision(
        target=target,
        targets=targets,
        basis=basis,
        action=Action.HOLD if target is None or taken_back else row.action,
        state=row.state or _state(facts, learnt, observation, view),
        reasons=_reasons(case, facts, learnt, observation, view, targets),
        lower=min((range_.lower, *here)) if range_ else None,
        upper=max((range_.upper, *here)) if range_ else None,
        unguarded=range_.best if range_ else None,
        loss=view.outlook.loss if view.outlook and range_ else None,
        confidence=_confidence(case, learnt, observation, view, range_),
    )


def _confidence(case: Case, learnt: Learnt, observation: Observation, view: View, range_: Outlook | None) -> float:
    """Of a size to apply, how likely it is not worse; of a held size, how likely it is the best. Where nothing
    completes in time, little evidence is no reason to stay."""
    if case is Case.STOPPED and view.choice is not None:
        return 0.5 * erfc(-view.choice.sure_by / sqrt(2))
    if case in (Case.BETTER, Case.LOOK, Case.UNSURE) and view.choice is not None and observation.named is None:
        return confidence_in(view.choice, learnt, observation)
    return range_.sure * _begun(learnt, observation) if range_ else 0.0


def _wanted(view: View, decision: Decision) -> int | None:
    """The size that the pool asks of its backend."""
    return (view.outlook.beyond if view.outlook else None) or decision.unguarded


def _proposed(decision: Decision, observation: Observation, now_ms: int) -> Change | None:
    """The target of a decision that nobody is to apply, as a change that people may make."""
    size, target = observation.size, decision.target
    if size is None or target in (None, size):
        return None
    return Change(size, target, now_ms, decision.basis)


def _of_all(facts: Facts, observation: Observation) -> int | None:
    """The size to bring all targets to. Where none is known: none in quiet hours, else the size that
    most targets have."""
    if facts.of_all is not None or observation.constraints.quiet:
        return facts.of_all
    return of_most(observation.sizes.values())


def _targets(
    case: Case, facts: Facts, observation: Observation, view: View, target: int | None, basis: Basis
) -> tuple[str, ...]:
    """The instances that a decision is for, () for all. A size that replaces somebody else's change goes to all, since
    it was in force before."""
    change = facts.change
    if case is Case.WAITING and change is not None and (view.wave is not None or view.current == change.from_size):
        return still_for(change, change.basis, observation.sizes)
    if case is Case.WAVE_ON and change is not None:
        return next_wave(change.targets, observation.sizes)
    if case not in (Case.BETTER, Case.LOOK, Case.STOPPED) or view.foreign or observation.by_hand:
        return ()
    again = change is not None and target == decided_for(facts, view.current)
    return (
        still_for(change, basis, observation.sizes)
        if again and change is not None
        else first_wave(basis, observation.sizes)
    )


def _begun(learnt: Learnt, observation: Observation) -> float:
    """The part of the belief's confidence that a decision states, 0..1. The belief is of one service, and the evidence
    may be of one that still starts. A published model states its own confidence.

    Worked: 4 s of a full pool count as 8 of 60, so 0.93 becomes 0.12. From 30 s of a full pool the whole confidence
    counts.
    """
    if observation.named is not None:
        return 1.0
    return min(1.0, learnt.evidence.weight(observation.cores) / STARTS_S)


def _range_of(named: Estimate | None) -> Outlook | None:
    if named is None or named.target is None:
        return None
    lower, upper = named.lower_bound or named.target, named.upper_bound or named.target
    return Outlook(named.target, lower, upper, loss=0.0, sure=named.confidence)


def _basis(case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View) -> Basis:
    """The basis of the choice; while a change is under way, the basis of that change."""
    if case in (Case.WAITING, Case.WAVE_ON) and facts.change is not None:
        return facts.change.basis
    if view.choice is None:
        return Basis.HELD
    if facts.change is not None and view.choice.size == facts.change.from_size:
        return Basis.REVERT
    if observation.named is None and learnt.evidence.seconds_on(observation.cores) < LEAST_EVIDENCE_S:
        return Basis.CARRIED
    return Basis.MEMORY if observation.named is None and learnt.remembered else Basis.CURVE


def _state(facts: Facts, learnt: Learnt, observation: Observation, view: View) -> State:
    """PROVIDED when the best size is known within 2 %, whichever size is in force. It stays up to 3 %, so that noise
    does not change the state each second. A service that may still be starting (`STARTS_S`) is not PROVIDED."""
    if observation.named is not None:
        return observation.named.state
    if view.stopped:
        return State.LEARNING
    if view.outlook is None:
        rolls = len(set(observation.sizes.values())) > 1
        return facts.state if rolls and facts.state is not None else State.LEARNING
    if view.choice is None and never_full(learnt, observation, view):
        return State.UNSATURATED
    bound, best = observation.constraints, view.outlook.beyond or view.outlook.best
    if (view.current == bound.most and best > bound.most) or (view.current == bound.least and best < bound.least):
        return State.GUARDED
    known = STILL_KNOWN if facts.state is State.PROVIDED else KNOWN
    begun = learnt.evidence.weight(observation.cores) >= STARTS_S
    return State.PROVIDED if view.outlook.at_best < known and begun else State.LEARNING


def _reasons(
    case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View, targets: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    more = _more(case, facts, learnt, observation, view)
    reasons = [(case.name, f"{case.value}: {more}" if more else case.value)]
    if case in (Case.SET, Case.PAUSED) and not observation.sizes:
        reasons.append((Case.NO_SIZE.name, "; ".join(filter(None, (Case.NO_SIZE.value, _last_known(facts))))))
    if targets:
        reasons.append(("WAVE", f"first on {', '.join(targets)}: {len(targets)} of {len(observation.sizes)} targets"))
    if (waits := learnt.waits) is not None and just_carried(waits, learnt.until_ms):
        wait_ms = 1_000 * waits.evidence_s
        reasons.append(("CALLEE_WAIT", f"requests wait {wait_ms:.3g} ms for callees; the evidence was carried there"))
    if view.foreign:
        reasons.append(("FOREIGN", f"Sluice did not decide the size in force, {view.current}"))
    if observation.named is not None:
        reasons += [(reason.code, reason.text) for reason in observation.named.reasons]
    return tuple(reasons)


def _more(case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View) -> str:
    """The details of the case, "" where there are none."""
    bound, demand = observation.constraints, learnt.demand
    match case:
        case Case.GAVE_UP | Case.COLLAPSED | Case.ERRORS_RISE | Case.FEWER_IN_TIME | Case.CHECKED:
            return view.verdict.why if view.verdict else ""
        case Case.IN_TIME:
            return view.in_time
        case Case.SAMPLED | Case.TAIL_SAMPLED | Case.FEW_TRACES if observation.sampling is not None:
            return f"{observation.sampling.text}; see docs/sampling.md"
        case Case.NO_SIZE:
            return _last_known(facts)
        case Case.CALLEE:
            return bound.callee
        case Case.SPANS_DISAGREE:
            most = max((beat.in_flight_s / beat.length_s for beat in learnt.beats), default=0.0)
            return f"{most:.0f} of {view.current}; see ./sluice doctor"
        case Case.UNACCOUNTED if view.current and unseen(learnt, view.current, observation.occupancy):
            busy = observation.occupancy.busy if observation.occupancy else 0.0
            return f"metrics have {busy:.0f} of {view.current} in use, and spans never showed it full"
        case Case.UNACCOUNTED if demand is not None and demand.waiting is not None:
            return f"{demand.waiting:.1f} wait, {demand.in_flight:.1f} of {view.current} in flight"
        case Case.SET | Case.PAUSED:
            return bound.paused
        case Case.MIXED:
            counted = Counter(observation.sizes.values())
            return ", ".join(f"{size or 'unbounded'} on {count}" for size, count in counted.items())
        case Case.QUIET:
            return bound.quiet
        case Case.OUTSIDE:
            return f"{bound.least} to {bound.most}" + (f": {bound.why}" if bound.why else "")
    return ""


def _last_known(facts: Facts) -> str:
    return "" if facts.current is None else f"the last one known is {facts.current}"


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


def _facts(
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
