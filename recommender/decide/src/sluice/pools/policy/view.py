"""The view that a decision is made from: the size in force, the outlook, and the size that is worth having next."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.fast.worth import LOOK_SHARE
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.policy.allowed import COLLAPSING_S, floor, least_needed, narrowed, unmeasured, unrefused
from sluice.pools.policy.callers import callers_of, hardly_tried, late_demand
from sluice.pools.policy.choice_rules import again, before_the_look, consistent, further, least_left, undone
from sluice.pools.policy.crowded import crowded_choice
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.fullness import full_share
from sluice.pools.policy.in_time import more_in_time
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import (
    admitted,
    bounds,
    by_another,
    collapses,
    leap,
    legal,
    named_choice,
    reach,
)
from sluice.pools.policy.scene import GuardVerdict
from sluice.pools.policy.state import Change, Facts, Learnt
from sluice.pools.policy.sufficiency import enough, stopped, taken
from sluice.pools.policy.waits import just_carried
from sluice.pools.policy.waves import came, completes_less, under_way, worse
from sluice.pools.policy.worth import Choice, Outlook, Prospects, Situation, choose, likeliest, prospects

# Up to so many seconds of evidence a service may still be starting. Seconds of a saturated pool count double.
STARTS_S = 60.0
# A pool is PROVIDED from this expected loss of the best size on.
KNOWN = 0.02
# From so many seconds on the belief counts in full.
SURE_S = 20.0


@dataclass(frozen=True)
class View:
    """The values that fill in a row of the table.

    - current: the size in force, None where there is no single one.
    - replaced: the size that somebody else's change replaced.
    - outlook: None without a belief. choice: None where no other size is worth it.
    - stopped: nothing completes, or only late, and there is too little evidence.
    - wave: the change that only some targets have, None where there is none. `current` is then the size of the others.
    - came: those targets read the change back. worse: it is worse there.
    - stuck: the choice is for a full pool whose callers wait.
    - verdict: the guard's requirement (harm.py).
    - in_time: why the smaller size that the belief would choose is not chosen (in_time.py), else "".
    """

    current: int | None
    replaced: int | None
    outlook: Outlook | None
    choice: Choice | None
    stopped: bool = False
    wave: Change | None = None
    came: bool = False
    worse: bool = False
    stuck: bool = False
    verdict: GuardVerdict | None = None
    in_time: str = ""

    @property
    def foreign(self) -> bool:
        """Whether somebody else set the size in force."""
        return self.replaced is not None


def view_of(facts: Facts, learnt: Learnt, observation: Observation, now_ms: int) -> View:
    """The view at `now_ms`, Unix time, of a pool with these facts and this evidence."""
    wave = under_way(facts, observation)
    if wave is not None:
        return _within(wave, facts, learnt, observation, now_ms)
    current = observation.size
    foreign = current is not None and facts.current is not None and by_another(facts, current)
    replaced = facts.current if foreign else None
    if observation.named is not None:
        choice = named_choice(observation.named, current, replaced, observation.constraints)
        if (
            choice is not None
            and current is not None
            and not _may_name(choice.size, current, facts, learnt, observation, now_ms)
        ):
            choice = None
        return View(current, replaced, None, choice)
    known = enough(learnt, observation)
    stops = not known and stopped(learnt, observation)
    if current is None or learnt.kept is None or not (known or stops):
        return View(current, replaced, None, None)
    full = full_share(facts, learnt)
    shrinks = stops and taken(observation, current)
    least = 1 if shrinks else floor(facts, learnt, current, observation.occupancy)
    near = reach(current, replaced, observation.constraints, full, queued(observation))
    left = legal(before_the_look(facts, current, now_ms), observation.constraints) or current
    near = min(near[0], left), max(near[1], left)
    if just_carried(learnt.waits, learnt.until_ms):
        near = near[0], admitted(current, near[1], observation.cores)
    waits = unmeasured(facts, learnt, current, after_stay=stops)
    if waits:
        near = near[0] if shrinks else current, current
    within = narrowed(near, least, facts.trust, now_ms)
    of = _prospects(facts, learnt, current, within, observation, now_ms)
    sure = learnt.evidence.weight(observation.cores) >= SURE_S
    if full >= LOOK_SHARE and sure and collapses(of.outlook):
        least = min(least, floor(facts, learnt, current, observation.occupancy, COLLAPSING_S))
        near = min(near[0], max(leap(of.outlook, current), observation.constraints.least)), near[1]
        within = narrowed(near, least, facts.trust, now_ms)
        of = _prospects(facts, learnt, current, within, observation, now_ms)
    if stops:
        choice = undone(likeliest(of), current, replaced, observation)
        return View(current, replaced, of.outlook, choice, stopped=True)
    if least > 1 and not waits and (crowded := _crowded(of, facts, learnt, observation, now_ms)) is not None:
        return crowded
    since_s = (now_ms - facts.change.at_ms) / 1_000 if facts.change else float("inf")
    choice = consistent(_choice(of, facts, learnt, observation, full, since_s), current, of.outlook)
    if choice is not None and choice.size < current:
        least = least_needed(learnt, of.expected, current, observation.slo_s)
        least = least_left(least, within[1], facts.trust.refuses(current, now_ms))
        if choice.size < least:
            within = max(within[0], min(least, current)), within[1]
            of = _prospects(facts, learnt, current, within, observation, now_ms)
            choice = consistent(_choice(of, facts, learnt, observation, full, since_s), current, of.outlook)
    if (choice is None or choice.look) and full >= LOOK_SHARE:
        choice = further(of.outlook, current, within) or choice
    choice = undone(again(choice, facts, since_s), current, replaced, observation)
    if choice is not None and replaced is None:
        slo_s = observation.slo_s
        if why := more_in_time(learnt.beats, learnt.kept.now, current, choice.size, slo_s):
            return View(current, replaced, of.outlook, None, in_time=why)
    if choice is None and not waits and full >= LOOK_SHARE and late_demand(learnt, now_ms) is not None:
        choice = hardly_tried(facts, learnt, observation, current, now_ms)
        return View(current, replaced, of.outlook, choice, stuck=choice is not None)
    return View(current, replaced, of.outlook, choice)


def _crowded(of: Prospects, facts: Facts, learnt: Learnt, observation: Observation, now_ms: int) -> View | None:
    """The view of a pool that was never full and is crowded; None where it is not, or may not be shrunk."""
    assert learnt.kept is not None
    current = int(of.sizes[of.current_at])
    least = max(observation.constraints.least, least_needed(learnt, of.expected, current, observation.slo_s))
    choice = crowded_choice(facts, learnt, observation, of.outlook, least, now_ms)
    if choice is None:
        return None
    why = more_in_time(learnt.beats, learnt.kept.now, current, choice.size, observation.slo_s, crowded=True)
    return View(current, None, of.outlook, None if why else choice, in_time=why)


def _may_name(size: int, current: int, facts: Facts, learnt: Learnt, observation: Observation, now_ms: int) -> bool:
    """Whether the size of a published model may be chosen: it is not refused and not below the floor."""
    if facts.trust.refuses(size, now_ms):
        return False
    return size >= min(current, floor(facts, learnt, current, observation.occupancy))


def _prospects(
    facts: Facts, learnt: Learnt, current: int, within: tuple[int, int], observation: Observation, now_ms: int
) -> Prospects:
    assert learnt.kept is not None
    return prospects(
        learnt.kept.now,
        current,
        within,
        observation.slo_s,
        unrefused(bounds(observation.constraints), facts.trust, now_ms),
        callers_of(learnt, current, now_ms) if enough(learnt, observation) else 0,
    )


def queued(observation: Observation) -> float:
    """Callers that wait for one instance of the pool, as its targets report them; 0 where none does."""
    occupancy = observation.occupancy
    return 0.0 if occupancy is None or occupancy.coarse or occupancy.waiting is None else occupancy.waiting


def _within(wave: Change, facts: Facts, learnt: Learnt, observation: Observation, now_ms: int) -> View:
    """The view while a change is on some targets: no other size is chosen."""
    current, has_come = wave.from_size, came(wave, observation)
    if observation.named is not None or learnt.kept is None:
        return View(current, None, None, None, wave=wave, came=has_come)
    full = full_share(facts, learnt)
    of = _prospects(facts, learnt, current, reach(current, None, observation.constraints, full), observation, now_ms)
    if not enough(learnt, observation):
        stops = stopped(learnt, observation)
        return View(current, None, of.outlook if stops else None, None, stops, wave, has_come)
    does_worse = worse(wave, of) or completes_less(wave, learnt.beats)
    return View(current, None, of.outlook, None, wave=wave, came=has_come, worse=does_worse)


def _choice(
    of: Prospects, facts: Facts, learnt: Learnt, observation: Observation, full: float, since_change_s: float
) -> Choice | None:
    def completions(sizes: Ints) -> Floats:
        return learnt.evidence.completions_at(observation.cores, sizes)

    change, left, current = facts.change, None, int(of.sizes[of.current_at])
    if change is not None and (change.to_size, change.basis) == (current, Basis.PROBE):
        left = change.from_size
    may_look, queues = observation.constraints.may_look, queued(observation) >= current
    return choose(of, Situation(full, since_change_s, may_look, left, queues), completions)
