"""The view that a decision is made from: the size in force, the outlook, and the size that is worth having next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.fast.changed import changed
from sluice.fast.worth import LEAST_GAIN, LOOK_SHARE, SURE_BY
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import PARTIAL
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.policy.allowed import COLLAPSING_S, floor, least_needed, narrowed, unmeasured, unrefused
from sluice.pools.policy.callers import LOOKS_AGAIN_S, callers_of, hardly_tried, late_demand
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.in_time import more_in_time
from sluice.pools.policy.learn import SLOW, late
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
    smallest,
)
from sluice.pools.policy.scene import GuardVerdict
from sluice.pools.policy.state import RECENT, Change, Facts, Learnt
from sluice.pools.policy.waits import just_carried
from sluice.pools.policy.waves import came, completes_less, under_way, worse
from sluice.pools.policy.worth import Choice, Outlook, Prospects, Situation, choose, likeliest, prospects

# A pool is full when it was full for so many seconds in a row, and was not before them.
FILLED = 2
# Seconds of evidence that a decision needs. Those of a saturated pool count double, since nothing else limits
# completions in them.
LEAST_EVIDENCE_S = 4.0
# Up to so many seconds of evidence a service may still be starting. Seconds of a saturated pool count double.
STARTS_S = 60.0
# A pool is PROVIDED from this expected loss of the best size on.
KNOWN = 0.02
# From so many seconds on the belief counts in full.
SURE_S = 20.0
# A pool has stopped after so many completions that took `SLOW` of an SLO on average, and so long without one.
STOPPED_AFTER, STOPPED_MS = 10, 3_000
# Where nothing is in time, a pool may be shrunk from this part of it in flight on.
TAKEN = 0.7


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


def before_the_look(facts: Facts, current: int, now_ms: int) -> int | None:
    """The size that the guard left for a look at the operator's, where that showed that the demand fell: the pool may
    go back there at once. Worked: 15 is left for 49, and all from 16 on are refused, so no single step leads back; 8 is
    left for 2, which the load does not fill any more, so that 2 would not grow."""
    change = facts.change
    if change is None or (change.to_size, change.basis) != (current, Basis.REVERT):
        return None
    looked = current == facts.trust.operator and now_ms < facts.trust.demand_until_ms
    return change.from_size if looked else None


def again(choice: Choice | None, facts: Facts, since_change_s: float) -> Choice | None:
    """The choice, or None where it is another look at the size that was just left: its look showed nothing, or that it
    is worse. Worked: 36 is left for 34 because fewer requests came, and is not looked at again 5 s later. A size that
    was left for a look may be gone back to."""
    change = facts.change
    if choice is None or change is None or change.basis is Basis.PROBE or since_change_s >= LOOKS_AGAIN_S:
        return choice
    return None if choice.look and choice.size == change.from_size else choice


def least_left(least: int, most: int, refused: bool) -> int:
    """What the busiest stretch needs, by the sizes that are left: where the size in force is refused, at most the
    largest that is not. Worked: 30 is refused and in force, 24 is the most that is left, and the peak needs 28: 24."""
    return min(least, most) if refused else least


def consistent(choice: Choice | None, current: int, outlook: Outlook) -> Choice | None:
    """The choice, or None where it is called better but does not lie towards the best size."""
    if choice is None or choice.look or (choice.size - current) * (outlook.best - current) > 0:
        return choice
    return None


def further(outlook: Outlook, current: int, within: tuple[int, int]) -> Choice | None:
    """As far as one change leads towards a surely better size that is out of reach. The sizes between are passed in a
    second or three.

    Worked: 8 does 10 % more than 32, and 16 is expected to do 7 % less: 16 is on the way to 8.
    """
    low, high = within
    if outlook.gain <= LEAST_GAIN or outlook.sure_by < SURE_BY or low <= outlook.best <= high:
        return None
    size = low if outlook.best < low else high
    return None if size == current or low > high else Choice(size, outlook.gain, outlook.sure_by, look=False)


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


def undone(choice: Choice | None, current: int, replaced: int | None, observation: Observation) -> Choice | None:
    """A choice further down than one step becomes the size that somebody else's change replaced, and nothing between.
    Worked: a user sets 200 where 2 was, and 22 is chosen: that is a step from neither."""
    if choice is None or replaced is None or choice.size >= smallest(current, None):
        return choice
    return replace(choice, size=legal(replaced, observation.constraints) or replaced)


def judged(learnt: Learnt, observation: Observation) -> Learnt:
    """Adds the present belief, on the present CPU limit."""
    if not enough(learnt, observation) and not stopped(learnt, observation):
        return learnt
    return changed(learnt, kept=believed(learnt.kept, learnt.evidence, observation.cores))


def taken(observation: Observation, current: int) -> bool:
    """Whether most of the pool is in flight, though it is not full. Of a pool of 64 with 57 in flight, all of them
    late, some threads are always between two requests."""
    came = observation.buckets
    return len(came) > 0 and float(came.concurrency.mean()) >= TAKEN * current


def enough(learnt: Learnt, observation: Observation) -> bool:
    """Whether the evidence on this CPU limit is enough for a decision."""
    return observation.cores >= 0 and learnt.evidence.weight(observation.cores) >= LEAST_EVIDENCE_S


def stopped(learnt: Learnt, observation: Observation) -> bool:
    """Whether a pool with too little evidence has come to a stop: what completes is late, or nothing completed for 3 s
    after 10 completions that took half of the SLO.

    A service that collapses under too large a size completes next to nothing. Requests that do not end have no spans,
    so its pool looks empty. A service whose load has gone looks the same, but its completions were quick.
    """
    if observation.cores < 0 or observation.named is not None or learnt.completed_ms is None:
        return False
    done = sum(level.completions for level in learnt.evidence.levels)
    slow = sum(level.in_flight_s for level in learnt.evidence.levels) >= SLOW * observation.slo_s * done
    silent = done >= STOPPED_AFTER and slow and learnt.until_ms - learnt.completed_ms >= STOPPED_MS
    came = observation.buckets
    in_flight_s, completions = float(came.concurrency.sum()) * came.bucket_s, float(came.completions.sum())
    return len(learnt.full) >= RECENT and (silent or late(in_flight_s, completions, observation.slo_s, came.in_time))


def full_share(facts: Facts, learnt: Learnt) -> float:
    """The mean fullness, 0..1, of the newest seconds since the last change and since the load came.

    A pool of 5 that was full, and is half full at 10, gives no reason for 20 in three seconds. A pool that had little
    to do and is full for 2 s in a row is full.
    """
    newest = learnt.full
    if facts.change is not None:
        since = -((facts.change.at_ms - learnt.until_ms) // 1_000)
        newest = newest[-since:] if since > 0 else newest
    earlier, filled = newest[:-FILLED], newest[-FILLED:]
    while earlier and earlier[-1] >= LOOK_SHARE:
        earlier = earlier[:-1]
    # The second in which the pool filled is neither full nor idle.
    earlier = earlier[:-1] if earlier and earlier[-1] > PARTIAL else earlier
    if len(filled) == FILLED and min(filled) >= LOOK_SHARE and max(earlier, default=0.0) <= PARTIAL:
        return 1.0
    return sum(newest) / len(newest) if newest else 0.0


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
