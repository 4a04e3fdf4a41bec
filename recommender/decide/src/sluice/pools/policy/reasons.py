"""The reasons of a decision: codes, and texts for people."""

from __future__ import annotations

from collections import Counter

from sluice.pools.policy.case import unseen
from sluice.pools.policy.crowded import crowd
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.view import View
from sluice.pools.policy.waits import just_carried


def reasons_of(
    case: Case, facts: Facts, learnt: Learnt, observation: Observation, view: View, targets: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Pairs of a code and its text, the case's first. targets: those that the decision is for, () for all."""
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
        case Case.GAVE_UP | Case.COLLAPSED | Case.NO_GAIN | Case.ERRORS_RISE | Case.FEWER_IN_TIME | Case.CHECKED:
            return view.verdict.why if view.verdict else ""
        case Case.IN_TIME:
            return view.in_time
        case Case.NEVER_FULL:
            return _crowded(learnt, observation, view)
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


def _crowded(learnt: Learnt, observation: Observation, view: View) -> str:
    """The sizes that complete more than a pool that was never full does now, "" where none does (crowded.py)."""
    if learnt.kept is None or view.outlook is None or view.current is None:
        return ""
    shows = crowd(learnt.beats, learnt.kept.now, view.current, view.outlook, observation.slo_s)
    if shows is None:
        return ""
    sizes = f"{view.outlook.lower} to {view.outlook.upper} are expected to complete {shows.best_per_s:.0f} a second"
    return f"{sizes}, and {shows.in_flight:.0f} in flight complete {shows.per_s:.0f}; set one of them by hand"


def _last_known(facts: Facts) -> str:
    return "" if facts.current is None else f"the last one known is {facts.current}"
