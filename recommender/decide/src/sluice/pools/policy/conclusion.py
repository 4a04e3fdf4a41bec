"""The decision that a case comes to: its row of the table, filled in."""

from __future__ import annotations

from math import erfc, sqrt

from sluice.model.states import State
from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.case import confidence_in, never_full
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import decided_for, legal, near, of_most
from sluice.pools.policy.reasons import reasons_of
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.sufficiency import LEAST_EVIDENCE_S
from sluice.pools.policy.transitions import TABLE, TAKE_BACK, Case
from sluice.pools.policy.view import KNOWN, STARTS_S, View
from sluice.pools.policy.waves import first_wave, next_wave, still_for
from sluice.pools.policy.worth import Outlook

# A pool that is PROVIDED (view.py) stays so while the best size is known within this part.
STILL_KNOWN = 0.03
SAMPLED = frozenset({Case.SAMPLED, Case.TAIL_SAMPLED})
UNKNOWN_BEST = frozenset(
    {*TAKE_BACK, *SAMPLED, Case.NEVER_FULL, Case.IN_TIME, Case.SPANS_DISAGREE, Case.UNACCOUNTED, Case.CALLEE}
)


def decision_of(case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View) -> Decision:
    """The decision of this step. facts: those before it; learnt: with this step's evidence."""
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
        reasons=reasons_of(case, facts, learnt, observation, view, targets),
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
