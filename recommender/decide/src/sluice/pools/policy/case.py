"""Finds the case of a pool: the first row of the table (transitions.py) that holds."""

from __future__ import annotations

from math import erfc, sqrt

from sluice.model.states import State
from sluice.pools.estimate.belief.evidence import OVER, PARTIAL
from sluice.pools.policy.allowed import unmeasured, was_full
from sluice.pools.policy.callers import most_wait
from sluice.pools.policy.crowded import on_trial
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import REPORTED_FULL, Observation, Occupancy
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.reach import legal
from sluice.pools.policy.state import Change, Facts, Learnt
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.view import SURE_S, View
from sluice.pools.policy.worth import Choice
from sluice.pools.sampling.verdict import Kind

WAIT_MS = 3_000
# How many ms of windows at a new size must be seen before the next change, and how long a change waits for them at
# most.
SEEN_MS, UNSEEN_MS = 1_000, 30_000
# The same where a pool that was never full was shrunk: the guard sees 3 whole seconds from when it was read back.
TRIED_MS = 6_000
# A pool without a completion for so long gives nothing to judge by.
SILENT_MS = 30_000
# Below this confidence a decision applies nothing, except to take harm back.
LEAST_CONFIDENCE = 0.1
# A size that is better by so many standard deviations does not wait for its next step.
GOES_ON = 2.0
# Seconds with more in flight than the size; and how long a pool drains after a change, in s and in stays of a request.
OVER_S, DRAINED_S, DRAINED_STAYS = 3.0, 10.0, 3.0
# A pool with less than this part of its size in flight is idle.
IDLE = 0.5


def case_of(facts: Facts, learnt: Learnt, observation: Observation, view: View, now_ms: int) -> Case:
    """The first case that holds at `now_ms`, Unix time in ms."""
    bound, current = observation.constraints, view.current
    if bound.paused:
        wanted = legal(bound.set_to, bound)
        return Case.SET if wanted is not None and set(observation.sizes.values()) != {wanted} else Case.PAUSED
    if (sampling := observation.sampling) is not None and sampling.refuses:
        return Case.TAIL_SAMPLED if sampling.kind is Kind.TAIL_SAMPLED else Case.SAMPLED
    if not observation.sizes:
        return Case.NO_SIZE
    if len(set(observation.sizes.values())) > 1 and view.wave is None:
        return Case.MIXED
    if current is None:
        return Case.UNBOUNDED if sampling is None else Case.FEW_TRACES
    if view.verdict is not None:
        return view.verdict.case
    if _silent(learnt, observation, now_ms):
        return Case.NO_DATA
    if bound.quiet:
        return Case.QUIET
    if not bound.least <= current <= bound.most:
        return Case.OUTSIDE
    if _waits(facts, on_trial(facts, learnt), learnt.until_ms + 1_000 * observation.buckets.bucket_s, view, now_ms):
        return Case.WAITING
    occupancy = observation.occupancy
    if (occupancy is None or occupancy.coarse) and disagree(facts, learnt):
        return Case.SPANS_DISAGREE
    if (occupancy is None or occupancy.coarse) and unaccounted(facts, learnt, current, now_ms):
        return Case.UNACCOUNTED
    if view.outlook is not None and unseen(learnt, current, occupancy):
        return Case.UNACCOUNTED
    if bound.callee:
        return Case.CALLEE
    if learnt.doubt.aside and observation.named is None:
        return Case.DOUBT
    if view.wave is not None and not (view.came and view.outlook is None and observation.named is None):
        return Case.WAVE_ON if view.came and not view.worse else Case.WAVE_BACK
    if view.outlook is None and (observation.named is None or observation.named.state is State.LEARNING):
        return Case.TOO_LITTLE
    if sampling is not None and view.choice is not None:
        return Case.FEW_TRACES
    if view.stopped:
        return Case.STOPPED if view.choice is not None else Case.TOO_LITTLE
    if view.stuck:
        return Case.STUCK
    if view.choice is not None:
        if observation.named is None and confidence_in(view.choice, learnt, observation) < LEAST_CONFIDENCE:
            return Case.UNSURE
        return Case.LOOK if view.choice.look else Case.BETTER
    if view.in_time:
        return Case.IN_TIME
    if never_full(learnt, observation, view):
        return Case.NEVER_FULL
    known_better = view.outlook is not None and not view.outlook.lower <= current <= view.outlook.upper
    return Case.UNMEASURED if known_better and unmeasured(facts, learnt, current) else Case.BEST


def _silent(learnt: Learnt, observation: Observation, now_ms: int) -> bool:
    if observation.named is not None:
        return observation.named.state is State.NO_DATA
    return learnt.completed_ms is None or now_ms - learnt.completed_ms > SILENT_MS


def _waits(facts: Facts, trial: bool, seen_ms: float, view: View, now_ms: int) -> bool:
    """Whether the last change waits: for 3 s, and until windows show the decided size. Windows arrive late; without
    this wait the next change would rest on the same data as the last one.

    trial: the guard sees 3 s of the decided size first (crowded.py). seen_ms: the end of the newest bucket, Unix time.

    Worked, windows 2 s old: a change decided at second 10 has its first whole second seen at 13.
    """
    change = facts.change
    if change is None or view.foreign or facts.pool != change.to_size:
        return False
    if not trial and _goes_on(change, view):
        return now_ms - change.at_ms < 1_000
    if view.wave is not None:
        unseen = not view.came or seen_ms < change.at_ms + SEEN_MS
    else:
        unseen = view.current == change.to_size and seen_ms < change.at_ms + (TRIED_MS if trial else SEEN_MS)
    return now_ms - change.at_ms < (UNSEEN_MS if unseen else WAIT_MS)


def _goes_on(change: Change, view: View) -> bool:
    """Whether the next step goes on down towards a size that is surely better. The choice was further away than one
    change leads, and in a full pool each second of waiting queues requests."""
    choice = view.choice
    if (
        choice is None
        or choice.look
        or view.current != change.to_size
        or change.basis not in (Basis.CURVE, Basis.MEMORY)
    ):
        return False
    down = change.to_size < change.from_size
    return down and choice.size < change.to_size and choice.sure_by >= GOES_ON


def never_full(learnt: Learnt, observation: Observation, view: View) -> bool:
    """Whether the pool was never full on this CPU limit, or not full for long enough at its size to be shrunk."""
    if observation.named is not None:
        return observation.named.state is State.UNSATURATED
    if observation.occupancy is not None and observation.occupancy.full_share > 0:
        return False
    smaller = view.outlook is not None and view.current is not None and view.outlook.best < view.current
    if smaller and view.current is not None and not was_full(learnt, view.current, observation.occupancy):
        return True
    return not learnt.evidence.ever_full(observation.cores)


def disagree(facts: Facts, learnt: Learnt) -> bool:
    """Whether more was in flight than the pool holds, for 3 s of the newest half minute.

    Seconds soon after a change do not count: for 10 s, and 3 times as long as requests stayed, a pool still holds the
    requests that it had before.
    """
    over = [beat for beat in learnt.beats if _over(beat)]
    if not over:
        return False
    trust = facts.trust
    stays = [record.stay_s for record in trust.measured]
    since_s = trust.since_ms / 1_000 + max(DRAINED_S, DRAINED_STAYS * max(stays, default=0.0))
    return sum(beat.length_s for beat in over if beat.second >= since_s) >= OVER_S


def _over(beat: Beat) -> bool:
    most = beat.length_s * beat.size
    return beat.in_flight_s > OVER * most and beat.in_flight_s > most + 0.5 * beat.length_s


def unaccounted(facts: Facts, learnt: Learnt, current: int, now_ms: int) -> bool:
    """Whether spans do not show all that the pool holds. More than a tenth of the calls is late, more callers wait than
    requests are in flight, and spans show less than half of the pool in use."""
    demand = most_wait(facts, learnt, now_ms)
    full = sum(learnt.full) / len(learnt.full) if learnt.full else 0.0
    return demand is not None and demand.in_flight < IDLE * current and full <= PARTIAL


def unseen(learnt: Learnt, current: int, occupancy: Occupancy | None) -> bool:
    """Whether coarse readings of metrics have the pool full, and spans never showed it full.

    Worked, a pool of 4 with 0.4 in flight by spans, 4 in use in two readings a minute apart: connections are held
    between queries.
    """
    coarse = occupancy is not None and occupancy.coarse and occupancy.full_share >= REPORTED_FULL
    return coarse and not was_full(learnt, current, occupancy)


def confidence_in(choice: Choice, learnt: Learnt, observation: Observation) -> float:
    """How likely a size is not worse than the one in force, 0..1. The value is lower while there is little evidence.

    Worked: better by one standard deviation, after 5 s of a saturated pool: 0.84 x 10 / 20 = 0.42.
    """
    return 0.5 * erfc(-choice.sure_by / sqrt(2)) * min(1.0, learnt.evidence.weight(observation.cores) / SURE_S)
