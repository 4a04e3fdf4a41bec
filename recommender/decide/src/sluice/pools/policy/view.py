"""What a decision is made from: the size in force, what is believed, and the size that is worth having next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.core.changed import changed
from sluice.pools.estimate.belief.evidence import PARTIAL
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.belief.kept import believed
from sluice.pools.policy.compiled_worth import LOOK_SHARE
from sluice.pools.policy.learn import late
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import by_another, legal, named_choice, reach, smallest
from sluice.pools.policy.state import RECENT, Change, Facts, Learnt
from sluice.pools.policy.waves import came, under_way, worse
from sluice.pools.policy.worth import Choice, Outlook, Prospects, choose, likeliest, prospects

# A pool that is full for so many seconds on end, and was not before them, is full.
FILLED = 2
# Seconds of a saturated pool count double: nothing else limits what completes in them.
LEAST_EVIDENCE_S = 4.0
# After so many completions that took so many SLOs on average, and without one for so long, a pool has come to a stop.
STOPPED_AFTER, SLOW, STOPPED_MS = 10, 0.5, 3_000


@dataclass(frozen=True)
class View:
    """What the rows of the table are filled in from.

    current: the size in force, None where there is not one. before: the one that another's change took away.
    outlook: None where nothing is believed. choice: None where no other size is worth it.
    stopped: nothing completes, or only late, and too little is known. wave: the change that some targets have alone,
    where there is one: `current` is what the others have. came: it was read back from those. worse: and is worse there.
    """

    current: int | None
    before: int | None
    outlook: Outlook | None
    choice: Choice | None
    stopped: bool = False
    wave: Change | None = None
    came: bool = False
    worse: bool = False

    @property
    def foreign(self) -> bool:
        return self.before is not None


def view_of(facts: Facts, learnt: Learnt, seen: Observation, now_ms: int) -> View:
    wave = under_way(facts, seen)
    if wave is not None:
        return _within(wave, facts, learnt, seen)
    sizes = set(seen.sizes.values())
    current = next(iter(sizes)) if len(sizes) == 1 else None
    foreign = current is not None and facts.current is not None and by_another(facts, current)
    before = facts.current if foreign else None
    if seen.named is not None:
        choice = named_choice(seen.named, current, before, seen.constraints)
        return View(current, before, None, choice)
    known = enough(learnt, seen)
    stops = not known and stopped(learnt, seen)
    if current is None or learnt.kept is None or not (known or stops):
        return View(current, before, None, None)
    full = full_share(facts, learnt)
    of = prospects(learnt.kept.now, current, *reach(current, before, seen.constraints, full), seen.slo_s)
    if stops:
        return View(current, before, of.outlook, undone(likeliest(of), current, before, seen), stopped=True)
    since_s = (now_ms - facts.change.at_ms) / 1_000 if facts.change else float("inf")
    return View(current, before, of.outlook, undone(_choice(of, learnt, seen, full, since_s), current, before, seen))


def _within(wave: Change, facts: Facts, learnt: Learnt, seen: Observation) -> View:
    """While a change is on some targets, no other is chosen."""
    current, has_come = wave.from_size, came(wave, seen)
    if seen.named is not None or learnt.kept is None:
        return View(current, None, None, None, wave=wave, came=has_come)
    full = full_share(facts, learnt)
    of = prospects(learnt.kept.now, current, *reach(current, None, seen.constraints, full), seen.slo_s)
    if not enough(learnt, seen):
        stops = stopped(learnt, seen)
        return View(current, None, of.outlook if stops else None, None, stops, wave, has_come)
    return View(current, None, of.outlook, None, wave=wave, came=has_come, worse=worse(wave, of))


def undone(choice: Choice | None, current: int, before: int | None, seen: Observation) -> Choice | None:
    """Further down than a step is what another's change took away, and nothing between: 200 set by hand where 2 was,
    and 22 chosen, is a step from neither."""
    if choice is None or before is None or choice.size >= smallest(current, None):
        return choice
    return replace(choice, size=legal(before, seen.constraints) or before)


def judged(learnt: Learnt, seen: Observation) -> Learnt:
    """With the belief of now, on the cores of now."""
    if not enough(learnt, seen) and not stopped(learnt, seen):
        return learnt
    return changed(learnt, kept=believed(learnt.kept, learnt.evidence, seen.cores))


def enough(learnt: Learnt, seen: Observation) -> bool:
    return seen.cores >= 0 and learnt.evidence.weight(seen.cores) >= LEAST_EVIDENCE_S


def stopped(learnt: Learnt, seen: Observation) -> bool:
    """Of a pool with too little evidence, whether none comes: what completes is late, or nothing did for 3 s after 10
    that took half of the SLO.

    A service that collapses under too large a size completes next to nothing, and requests that do not end have no
    spans, so its pool looks empty. One whose load has gone looks the same, but what it did was quick.
    """
    if seen.cores < 0 or seen.named is not None or learnt.completed_ms is None:
        return False
    done = sum(level.completions for level in learnt.evidence.levels)
    slow = sum(level.in_flight_s for level in learnt.evidence.levels) >= SLOW * seen.slo_s * done
    silent = done >= STOPPED_AFTER and slow and learnt.until_ms - learnt.completed_ms >= STOPPED_MS
    came = seen.buckets
    in_flight_s, completions = float(came.concurrency.sum()) * came.bucket_s, float(came.completions.sum())
    return len(learnt.full) >= RECENT and (silent or late(in_flight_s, completions, seen.slo_s))


def full_share(facts: Facts, learnt: Learnt) -> float:
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
    return sum(newest) / len(newest) if newest else 0.0


def _choice(of: Prospects, learnt: Learnt, seen: Observation, full: float, since_change_s: float) -> Choice | None:
    def completions(sizes: Ints) -> Floats:
        return learnt.evidence.completions_at(seen.cores, sizes)

    return choose(of, full, completions, since_change_s, seen.constraints.may_look)
