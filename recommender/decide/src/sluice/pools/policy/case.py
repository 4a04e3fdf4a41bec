"""What is the case: the first row of the table (transitions.py) that holds."""

from __future__ import annotations

from sluice.core.states import State
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import legal
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.view import View

WAIT_MS = 3_000
# Windows of a size that have to be seen before the next change, and how long that is waited for at most.
SEEN_MS, UNSEEN_MS = 1_000, 30_000
# Without a completion for so long there is nothing to judge by.
SILENT_MS = 30_000


def case_of(facts: Facts, learnt: Learnt, seen: Observation, view: View, now_ms: int) -> Case:
    bound, current = seen.constraints, view.current
    if bound.paused:
        wanted = legal(bound.set_to, bound)
        return Case.SET if wanted is not None and set(seen.sizes.values()) != {wanted} else Case.PAUSED
    if not seen.sizes:
        return Case.NO_SIZE
    if len(set(seen.sizes.values())) > 1 and view.wave is None:
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
    if view.wave is not None and not (view.came and view.outlook is None and seen.named is None):
        return Case.WAVE_ON if view.came and not view.worse else Case.WAVE_BACK
    if view.outlook is None and (seen.named is None or seen.named.state is State.LEARNING):
        return Case.TOO_LITTLE
    if view.stopped:
        return Case.STOPPED if view.choice is not None else Case.TOO_LITTLE
    if view.choice is not None:
        return Case.LOOK if view.choice.look else Case.BETTER
    return Case.NEVER_FULL if never_full(learnt, seen) else Case.BEST


def _silent(learnt: Learnt, seen: Observation, now_ms: int) -> bool:
    if seen.named is not None:
        return seen.named.state is State.NO_DATA
    return learnt.completed_ms is None or now_ms - learnt.completed_ms > SILENT_MS


def _waits(facts: Facts, seen_ms: float, view: View, now_ms: int) -> bool:
    """For 3 s, and until something was seen of the size that was decided: with windows that come late, the next change
    would be made on what was known before the last one. seen_ms: the end of the newest bucket.

    Worked, windows 2 s old: decided at second 10, its first second is seen whole at 13.
    """
    change = facts.change
    if change is None or view.foreign or facts.pool != change.to_size:
        return False
    if view.wave is not None:
        unseen = not view.came or seen_ms < change.at_ms + SEEN_MS
    else:
        unseen = view.current == change.to_size and seen_ms < change.at_ms + SEEN_MS
    return now_ms - change.at_ms < (UNSEEN_MS if unseen else WAIT_MS)


def never_full(learnt: Learnt, seen: Observation) -> bool:
    if seen.named is not None:
        return seen.named.state is State.UNSATURATED
    return not learnt.evidence.ever_full(seen.cores)
