"""The decision: `step(state, observation, now) -> (state', decision)`. Pure; nothing else remembers.

    learn (windows -> evidence) -> what is the case (transitions.py) -> its row of the table -> target, basis, action

Sizes change by a factor 2 at most, once in 3 s, within the constraints. A change is known to be in force when it is
read back; until then the decision stays APPLY.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.belief.kept import believed
from sluice.pools.policy.decision import Action, Basis, Decision, Standing
from sluice.pools.policy.learn import learn, of_version
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.transitions import TABLE, Case
from sluice.pools.policy.worth import FULL_SHARE, LOOK_FACTOR, LOOK_SHARE, Choice, Outlook, Prospects, choose, prospects

LARGEST_STEP = 2
WAIT_MS = 3_000
# Without a completion for so long there is nothing to judge by.
SILENT_MS = 30_000
# Seconds of a saturated pool count double: nothing else limits what completes in them.
LEAST_EVIDENCE_S = 4.0
# What the size in force may lose against the best one and still be called good.
GOOD_LOSS = 0.01


@dataclass(frozen=True)
class _View:
    """What the rows of the table are filled in from. current: the size in force; outlook: None without one."""

    current: int | None
    foreign: bool
    full_share: float
    outlook: Outlook | None
    choice: Choice | None


def step(state: PoolState, seen: Observation, now_ms: int) -> tuple[PoolState, Decision]:
    """The next state and what is said of the pool at `now_ms`, Unix time. A clock that was set back stands still."""
    now_ms = max(now_ms, state.facts.now_ms)
    learnt = _judged(learn(of_version(state.learnt, seen.version), seen.buckets, state.facts.change), seen)
    view = _view(state.facts, learnt, seen, now_ms)
    case = _case(state.facts, learnt, seen, view, now_ms)
    decision = _decision(case, state.facts, learnt, seen, view)
    return PoolState(_facts(state.facts, decision, view, now_ms), learnt), decision


def _enough(learnt: Learnt, seen: Observation) -> bool:
    return seen.cores >= 0 and learnt.evidence.weight(seen.cores) >= LEAST_EVIDENCE_S


def _judged(learnt: Learnt, seen: Observation) -> Learnt:
    """With the belief of now, on the cores of now."""
    if not _enough(learnt, seen):
        return learnt
    return replace(learnt, kept=believed(learnt.kept, learnt.evidence, seen.cores))


def _view(facts: Facts, learnt: Learnt, seen: Observation, now_ms: int) -> _View:
    sizes = set(seen.sizes.values())
    current = next(iter(sizes)) if len(sizes) == 1 else None
    foreign = current is not None and facts.current is not None and _by_another(facts, current)
    full = _full_share(facts, learnt)
    if current is None or learnt.kept is None or not _enough(learnt, seen):
        return _View(current, foreign, full, None, None)
    of = prospects(learnt.kept.now, current, *_reach(current, seen.constraints, full), seen.slo_s)
    since_s = (now_ms - facts.change.at_ms) / 1_000 if facts.change else float("inf")
    return _View(current, foreign, full, of.outlook, _choice(of, learnt, seen, full, since_s))


def _full_share(facts: Facts, learnt: Learnt) -> float:
    """Mean over the newest seconds: those since the last change, if there are any.

    Of a pool of 5 that was full, and is half full at 10, three seconds are no reason to have 20.
    """
    newest = learnt.full
    if facts.change is not None:
        since = -((facts.change.at_ms - learnt.until_ms) // 1_000)
        newest = newest[-since:] if since > 0 else newest
    return float(np.mean(newest)) if newest else 0.0


def _pool(facts: Facts) -> int | None:
    """The size that all targets are to have: the last decided one, unless another was set since."""
    change = facts.change
    if change is not None and facts.current in (change.from_size, change.to_size):
        return change.to_size
    return facts.current


def _near(size: int | None, current: int | None) -> int | None:
    """As far towards a size as one step goes; where targets differ, each actuator sees to that itself."""
    if size is None or current is None:
        return size
    return min(max(size, -(-current // LARGEST_STEP)), current * LARGEST_STEP)


def _legal(size: int | None, bound: Constraints) -> int | None:
    """The nearest one. Where a backend leaves less than the pool's least, that is its size."""
    return None if size is None else max(min(size, bound.most), bound.least, 1)


def _by_another(facts: Facts, current: int) -> bool:
    ours = facts.change.to_size if facts.change else None
    return current != facts.current and current != ours


def _reach(current: int, bound: Constraints, full: float) -> tuple[int, int]:
    """The sizes that one change leads to; none where the first is above the second."""
    return max(bound.least, -(-current // LARGEST_STEP)), min(bound.most, _largest(current, full))


def _choice(of: Prospects, learnt: Learnt, seen: Observation, full: float, since_change_s: float) -> Choice | None:
    def completions(sizes: Ints) -> Floats:
        return learnt.evidence.completions_at(seen.cores, sizes)

    return choose(of, full, completions, since_change_s, seen.constraints.may_look)


def _largest(current: int, full: float) -> int:
    """Twice the size where the pool is full all the time; a third more where it is full half of the time, and at least
    one; where it is not, no more is needed.

    At 10 threads, full in half of the buckets, twice as many were believed to complete a little more, as none above 8
    had been seen: three seconds of 20 made p99 1.5 times as high.
    """
    if full >= LOOK_SHARE:
        return current * LARGEST_STEP
    return max(current + 1, int(current * LOOK_FACTOR)) if full >= FULL_SHARE else current


def _case(facts: Facts, learnt: Learnt, seen: Observation, view: _View, now_ms: int) -> Case:
    bound, current = seen.constraints, view.current
    if bound.paused:
        return Case.PAUSED
    if not seen.sizes:
        return Case.NO_SIZE
    if len(set(seen.sizes.values())) > 1:
        return Case.MIXED
    if current is None:
        return Case.UNBOUNDED
    if learnt.completed_ms is None or now_ms - learnt.completed_ms > SILENT_MS:
        return Case.NO_DATA
    if bound.quiet:
        return Case.QUIET
    if not bound.least <= current <= bound.most:
        return Case.OUTSIDE
    if _waits(facts, view, now_ms):
        return Case.WAITING
    if learnt.doubt.aside:
        return Case.DOUBT
    if view.outlook is None:
        return Case.TOO_LITTLE
    if view.choice is not None:
        return Case.LOOK if view.choice.look else Case.BETTER
    return Case.BEST if _ever_full(learnt, seen.cores) else Case.NEVER_FULL


def _waits(facts: Facts, view: _View, now_ms: int) -> bool:
    change = facts.change
    return (
        change is not None and now_ms - change.at_ms < WAIT_MS and not view.foreign and _pool(facts) == change.to_size
    )


def _ever_full(learnt: Learnt, cores: float) -> bool:
    return any(level.full and level.cores == cores for level in learnt.evidence.levels)


def _decision(case: Case, facts: Facts, learnt: Learnt, seen: Observation, view: _View) -> Decision:
    row, bound = TABLE[case], seen.constraints
    target = {
        "current": view.current if view.current is not None else facts.current,
        "baseline": facts.baseline,
        "pool": _legal(_near(_pool(facts), view.current), bound),
        "inside": _legal(view.current, bound),
        "chosen": view.choice.size if view.choice else None,
    }[row.target]
    action = Action.HOLD if target is None else row.action
    seen_of = view.outlook
    return Decision(
        target=target,
        basis=row.basis or _basis(case, facts, learnt, seen, view),
        action=action,
        standing=row.standing or _standing(view),
        reasons=_reasons(case, view),
        lower=seen_of.lower if seen_of else None,
        upper=seen_of.upper if seen_of else None,
        unguarded=seen_of.best if seen_of else None,
        loss=seen_of.loss if seen_of else None,
    )


def _basis(case: Case, facts: Facts, learnt: Learnt, seen: Observation, view: _View) -> Basis:
    """What a choice stands on; while a change is under way, what that stood on."""
    if case is Case.WAITING and facts.change is not None:
        return facts.change.basis
    if view.choice is None:
        return Basis.HELD
    if facts.change is not None and view.choice.size == facts.change.from_size:
        return Basis.REVERT
    if learnt.evidence.seconds_on(seen.cores) < LEAST_EVIDENCE_S:
        return Basis.CARRIED
    return Basis.MEMORY if learnt.remembered else Basis.CURVE


def _standing(view: _View) -> Standing:
    if view.outlook is None or view.outlook.loss >= GOOD_LOSS:
        return Standing.LEARNING
    return Standing.PROVIDED


def _reasons(case: Case, view: _View) -> tuple[tuple[str, str], ...]:
    reasons = [(case.name, case.value)]
    if view.foreign:
        reasons.append(("FOREIGN", f"the size in force, {view.current}, is not one that Sluice decided"))
    return tuple(reasons)


def _facts(facts: Facts, decision: Decision, view: _View, now_ms: int) -> Facts:
    change = facts.change
    began = decision.action is Action.APPLY and decision.target not in (None, view.current)
    if began and view.current is not None and decision.target is not None:
        again = change is not None and (change.from_size, change.to_size) == (view.current, decision.target)
        if not again:
            change = Change(view.current, decision.target, now_ms, decision.basis)
    good = decision.standing is Standing.PROVIDED and view.current is not None
    return replace(
        facts,
        now_ms=now_ms,
        current=view.current if view.current is not None else facts.current,
        change=change,
        baseline=view.current if good else facts.baseline,
    )
