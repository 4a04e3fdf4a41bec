"""The decision: `step(state, observation, now) -> (state', decision)`. Pure; nothing else remembers.

    learn (windows -> evidence) -> what is the case (transitions.py) -> its row of the table -> target, basis, action

Sizes change by a factor 2 at most, once in 3 s, within the constraints; back to what another's change took away it is
at once. A change is known to be in force when it is read back; until then the decision stays APPLY.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sluice.core.states import State
from sluice.pools.estimate.belief.evidence import PARTIAL
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.belief.kept import believed
from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.learn import late, learn, of_version
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import RECENT, Change, Facts, Learnt, PoolState
from sluice.pools.policy.transitions import TABLE, Case
from sluice.pools.policy.worth import (
    FULL_SHARE,
    LOOK_FACTOR,
    LOOK_SHARE,
    Choice,
    Outlook,
    Prospects,
    choose,
    likeliest,
    prospects,
)

LARGEST_STEP = 2
WAIT_MS = 3_000
# Windows of a size that have to be seen before the next change, and how long that is waited for at most.
SEEN_MS, UNSEEN_MS = 1_000, 30_000
# A pool that is full for so many seconds on end, and was not before them, is full.
FILLED = 2
# Without a completion for so long there is nothing to judge by.
SILENT_MS = 30_000
# Seconds of a saturated pool count double: nothing else limits what completes in them.
LEAST_EVIDENCE_S = 4.0
# After so many completions, and without one for so long, a pool has come to a stop.
STOPPED_AFTER, STOPPED_MS = 10, 3_000
# What a size may lose against the best one and still be called good.
GOOD_LOSS = 0.01
# Within how much it has to be known which size is best to be called known; and to stay so.
KNOWN, STILL_KNOWN = 0.02, 0.03


@dataclass(frozen=True)
class _View:
    """What the rows of the table are filled in from.

    current: the size in force, None where there is not one. before: the one that another's change took away.
    outlook: None where nothing is believed. choice: None where no other size is worth it.
    stopped: nothing completes, or only late, and too little is known.
    """

    current: int | None
    before: int | None
    outlook: Outlook | None
    choice: Choice | None
    stopped: bool = False

    @property
    def foreign(self) -> bool:
        return self.before is not None


def step(state: PoolState, seen: Observation, now_ms: int) -> tuple[PoolState, Decision]:
    """The next state and what is said of the pool at `now_ms`, Unix time. A clock that was set back stands still."""
    now_ms = max(now_ms, state.facts.now_ms)
    learnt = learn(of_version(state.learnt, seen.version), seen.buckets, state.facts.change, seen.slo_s)
    learnt = _judged(learnt, seen)
    view = _view(state.facts, learnt, seen, now_ms)
    case = _case(state.facts, learnt, seen, view, now_ms)
    decision = _decision(case, state.facts, learnt, seen, view)
    learnt = replace(learnt, wanted=decision.unguarded)
    return PoolState(_facts(state.facts, decision, view, now_ms), learnt), decision


def _enough(learnt: Learnt, seen: Observation) -> bool:
    return seen.cores >= 0 and learnt.evidence.weight(seen.cores) >= LEAST_EVIDENCE_S


def _stopped(learnt: Learnt, seen: Observation) -> bool:
    """Whether there is too little evidence, and none comes: what completes is late, or after 10 nothing did for 3 s.

    A service that collapses under too large a size completes next to nothing, and requests that do not end have no
    spans, so its pool looks empty. One whose load has gone looks the same; either loses nothing by another size.
    """
    if seen.cores < 0 or seen.named is not None or _enough(learnt, seen) or learnt.completed_ms is None:
        return False
    began = sum(level.completions for level in learnt.evidence.levels) >= STOPPED_AFTER
    silent = began and learnt.until_ms - learnt.completed_ms >= STOPPED_MS
    came = seen.buckets
    in_flight_s, completions = float(came.concurrency.sum()) * came.bucket_s, float(came.completions.sum())
    return len(learnt.full) >= RECENT and (silent or late(in_flight_s, completions, seen.slo_s))


def _judged(learnt: Learnt, seen: Observation) -> Learnt:
    """With the belief of now, on the cores of now."""
    if not _enough(learnt, seen) and not _stopped(learnt, seen):
        return learnt
    return replace(learnt, kept=believed(learnt.kept, learnt.evidence, seen.cores))


def _view(facts: Facts, learnt: Learnt, seen: Observation, now_ms: int) -> _View:
    sizes = set(seen.sizes.values())
    current = next(iter(sizes)) if len(sizes) == 1 else None
    foreign = current is not None and facts.current is not None and _by_another(facts, current)
    before = facts.current if foreign else None
    if seen.named is not None:
        choice = _named(seen.named, current, before, seen.constraints)
        return _View(current, before, None, choice)
    stopped = _stopped(learnt, seen)
    if current is None or learnt.kept is None or not (stopped or _enough(learnt, seen)):
        return _View(current, before, None, None)
    full = _full_share(facts, learnt)
    of = prospects(learnt.kept.now, current, *_reach(current, before, seen.constraints, full), seen.slo_s)
    if stopped:
        return _View(current, before, of.outlook, likeliest(of), stopped=True)
    since_s = (now_ms - facts.change.at_ms) / 1_000 if facts.change else float("inf")
    return _View(current, before, of.outlook, _choice(of, learnt, seen, full, since_s))


def _named(named: Estimate, current: int | None, before: int | None, bound: Constraints) -> Choice | None:
    """The size of a published model, as near as may be gone to at once; None where it names none, or the one in force.

    Of a pool that has no size yet, the size itself: there is nothing to step from.
    """
    if named.target is None:
        return None
    size = named.target
    if current is not None:
        size = min(max(size, _smallest(current, before)), current * LARGEST_STEP)
    size = max(min(size, bound.most), bound.least, 1)
    return None if size == current else Choice(size, gain=0.0, sure_by=0.0, look=False)


def _full_share(facts: Facts, learnt: Learnt) -> float:
    """Mean over the newest seconds: those since the last change, if there are any; and those since the load came.

    Of a pool of 5 that was full, and is half full at 10, three seconds are no reason to have 20. One that had little to
    do, and is full for 2 s on end, is full.
    """
    newest = learnt.full
    if facts.change is not None:
        since = -((facts.change.at_ms - learnt.until_ms) // 1_000)
        newest = newest[-since:] if since > 0 else newest
    before, filled = newest[:-FILLED], newest[-FILLED:]
    while before and before[-1] >= LOOK_SHARE:
        before = before[:-1]
    if len(filled) == FILLED and min(filled) >= LOOK_SHARE and max(before, default=0.0) <= PARTIAL:
        return 1.0
    return float(np.mean(newest)) if newest else 0.0


def _decided_for(facts: Facts, current: int | None) -> int | None:
    """What was decided when this was in force, and is not read back yet."""
    change = facts.change
    return change.to_size if change is not None and change.from_size == current else None


def _near(size: int | None, current: int | None, facts: Facts) -> int | None:
    """As far towards a size as one step goes, unless it was decided for the very size in force; where targets differ,
    each actuator sees to that itself."""
    if size is None or current is None or _decided_for(facts, current) is not None:
        return size
    return min(max(size, _smallest(current, None)), current * LARGEST_STEP)


def _smallest(current: int, before: int | None) -> int:
    """A step down, or back to what another's change took away."""
    return min(-(-current // LARGEST_STEP), before or current)


def _legal(size: int | None, bound: Constraints) -> int | None:
    """The nearest one. Where a backend leaves less than the pool's least, that is its size."""
    return None if size is None else max(min(size, bound.most), bound.least, 1)


def _by_another(facts: Facts, current: int) -> bool:
    ours = facts.change.to_size if facts.change else None
    return current != facts.current and current != ours


def _reach(current: int, before: int | None, bound: Constraints, full: float) -> tuple[int, int]:
    """The sizes that one change leads to; none where the first is above the second."""
    largest = max(_largest(current, full), before or 0)
    return max(bound.least, _smallest(current, before)), min(bound.most, largest)


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
    if _silent(learnt, seen, now_ms):
        return Case.NO_DATA
    if bound.quiet:
        return Case.QUIET
    if not bound.least <= current <= bound.most:
        return Case.OUTSIDE
    if _waits(facts, learnt.until_ms + 1_000 * seen.buckets.bucket_s, view, now_ms):
        return Case.WAITING
    if learnt.doubt.aside and seen.named is None:
        return Case.DOUBT
    if view.outlook is None and (seen.named is None or seen.named.state is State.LEARNING):
        return Case.TOO_LITTLE
    if view.stopped:
        return Case.STOPPED if view.choice is not None else Case.TOO_LITTLE
    if view.choice is not None:
        return Case.LOOK if view.choice.look else Case.BETTER
    return Case.NEVER_FULL if _never_full(learnt, seen) else Case.BEST


def _silent(learnt: Learnt, seen: Observation, now_ms: int) -> bool:
    if seen.named is not None:
        return seen.named.state is State.NO_DATA
    return learnt.completed_ms is None or now_ms - learnt.completed_ms > SILENT_MS


def _waits(facts: Facts, seen_ms: float, view: _View, now_ms: int) -> bool:
    """For 3 s, and until something was seen of the size that was decided: with windows that come late, the next change
    would be made on what was known before the last one. seen_ms: the end of the newest bucket.

    Worked, windows 2 s old: decided at second 10, its first second is seen whole at 13.
    """
    change = facts.change
    if change is None or view.foreign or facts.pool != change.to_size:
        return False
    unseen = view.current == change.to_size and seen_ms < change.at_ms + SEEN_MS
    return now_ms - change.at_ms < (UNSEEN_MS if unseen else WAIT_MS)


def _never_full(learnt: Learnt, seen: Observation) -> bool:
    if seen.named is not None:
        return seen.named.state is State.UNSATURATED
    return not any(level.full and level.cores == seen.cores for level in learnt.evidence.levels)


def _decision(case: Case, facts: Facts, learnt: Learnt, seen: Observation, view: _View) -> Decision:
    row, bound, chosen = TABLE[case], seen.constraints, view.choice.size if view.choice else None
    target = {
        "current": view.current if view.current is not None else facts.current,
        "chosen or baseline": chosen or facts.baseline,
        "pool": _legal(_near(facts.pool, view.current, facts), bound),
        "inside": _legal(view.before or _decided_for(facts, view.current) or view.current, bound),
        "chosen": chosen,
    }[row.target]
    range_ = view.outlook or _range_of(seen.named)
    return Decision(
        target=target,
        basis=row.basis or _basis(case, facts, learnt, seen, view),
        action=Action.HOLD if target is None else row.action,
        state=row.state or _state(facts, learnt, seen, view),
        reasons=_reasons(case, seen, view),
        lower=range_.lower if range_ else None,
        upper=range_.upper if range_ else None,
        unguarded=range_.best if range_ else None,
        loss=view.outlook.loss if view.outlook else None,
        confidence=range_.sure if range_ else 0.0,
    )


def _range_of(named: Estimate | None) -> Outlook | None:
    if named is None or named.target is None:
        return None
    lower, upper = named.lower_bound or named.target, named.upper_bound or named.target
    return Outlook(named.target, lower, upper, loss=0.0, sure=named.confidence)


def _basis(case: Case, facts: Facts, learnt: Learnt, seen: Observation, view: _View) -> Basis:
    """What a choice stands on; while a change is under way, what that stood on."""
    if case is Case.WAITING and facts.change is not None:
        return facts.change.basis
    if view.choice is None:
        return Basis.HELD
    if facts.change is not None and view.choice.size == facts.change.from_size:
        return Basis.REVERT
    if seen.named is None and learnt.evidence.seconds_on(seen.cores) < LEAST_EVIDENCE_S:
        return Basis.CARRIED
    return Basis.MEMORY if seen.named is None and learnt.remembered else Basis.CURVE


def _state(facts: Facts, learnt: Learnt, seen: Observation, view: _View) -> State:
    """PROVIDED when it is known within 2 % which size is best, whichever is in force; and then up to 3 %, or the name
    would change with each second's noise."""
    if seen.named is not None:
        return seen.named.state
    if view.outlook is None:
        rolls = len(set(seen.sizes.values())) > 1
        return facts.state if rolls and facts.state is not None else State.LEARNING
    if view.choice is None and _never_full(learnt, seen):
        return State.UNSATURATED
    bound, best = seen.constraints, view.outlook.best
    if (view.current == bound.most and best > bound.most) or (view.current == bound.least and best < bound.least):
        return State.GUARDED if view.outlook.loss >= GOOD_LOSS else State.PROVIDED
    known = STILL_KNOWN if facts.state is State.PROVIDED else KNOWN
    return State.PROVIDED if view.outlook.at_best < known else State.LEARNING


def _reasons(case: Case, seen: Observation, view: _View) -> tuple[tuple[str, str], ...]:
    bound = seen.constraints
    more = {
        Case.PAUSED: bound.paused,
        Case.MIXED: ", ".join(
            f"{size or 'unbounded'} on {count}" for size, count in Counter(seen.sizes.values()).items()
        ),
        Case.QUIET: bound.quiet,
        Case.OUTSIDE: f"{bound.least} to {bound.most}" + (f": {bound.why}" if bound.why else ""),
    }.get(case)
    reasons = [(case.name, f"{case.value}: {more}" if more else case.value)]
    if view.foreign:
        reasons.append(("FOREIGN", f"the size in force, {view.current}, is not one that Sluice decided"))
    if seen.named is not None:
        reasons += [(reason.code, reason.text) for reason in seen.named.reasons]
    return tuple(reasons)


def _facts(facts: Facts, decision: Decision, view: _View, now_ms: int) -> Facts:
    change = facts.change
    began = decision.action is Action.APPLY and decision.target not in (None, view.current)
    if began and view.current is not None and decision.target is not None:
        again = change is not None and (change.from_size, change.to_size) == (view.current, decision.target)
        if not again:
            change = Change(view.current, decision.target, now_ms, decision.basis)
    good = view.current is not None and decision.loss is not None and decision.loss < GOOD_LOSS
    good = good and decision.state is State.PROVIDED
    return replace(
        facts,
        now_ms=now_ms,
        current=view.current if view.current is not None else facts.current,
        change=change,
        baseline=view.current if good else facts.baseline,
        state=decision.state if view.outlook is not None else facts.state,
    )
