"""Ends a trial in force by its measurement: the SLO guard, racing, or enough data. Pure.

Checks are at times that depend only on the blocks. So the same trial ends the same way in any process. The number of
checks is fixed, so the probability of an error in a whole trial is bounded, however often this is called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from sluice.tuning.names import TrialName
from sluice.tuning.objective.block import Block
from sluice.tuning.objective.enough import lacking
from sluice.tuning.objective.guard import tripped
from sluice.tuning.objective.judge import judged
from sluice.tuning.objective.objective import Objective, worth
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.objective.racing import hopeless
from sluice.tuning.session.session import MeasuredRoot, Plan, Purpose, Session, Trial

# The guard: the stretch that it checks, and the interval of checks, in seconds.
GUARD_S, GUARD_EVERY_S = 10.0, 5.0
# The number of racing checks in a whole trial. The bootstrap's tails do not allow more (`racing.hopeless`).
RACING_LOOKS = 20
# The most containers in a message: a trial is one record of the journal, and there may be thousands of containers.
NAMED = 10
# The largest excess, for a trial without completions.
_WORST = 1e9
_STILL = "; no data of any other service came either: the pipeline may stand still"


class MeasuredSpan(NamedTuple):
    """What to measure: the root's requests in [from_ms, to_ms), Unix ms. cpu: also the CPU time of requests."""

    root: MeasuredRoot
    from_ms: int
    to_ms: int
    cpu: bool = False


@dataclass(frozen=True)
class TrialMeasurement:
    """complete: the span is over and its data complete. silent: the newest blocks are empty, and so is all other data.
    unknown: containers whose CPU metrics are needed and never came."""

    blocks: Sequence[Block]
    complete: bool
    silent: bool = False
    unknown: Sequence[str] = ()


def spans(sessions: Mapping[str, Session]) -> dict[TrialName, MeasuredSpan]:
    """The spans of all trials in force."""
    return {
        TrialName(name, trial.number): _span(session.plan, session.plan.root, trial.applied_ms)
        for name, session in sessions.items()
        if session.plan.root is not None
        for trial in session.flying
        if trial.applied_ms is not None
    }


def _span(plan: Plan, root: MeasuredRoot, applied_ms: int) -> MeasuredSpan:
    from_ms = applied_ms + round(1000 * plan.window.warm_up_s)
    return MeasuredSpan(root, from_ms, from_ms + round(1000 * plan.window.most_s), plan.cpu)


def ended(session: Session, trial: Trial, measurement: TrialMeasurement) -> Outcome | None:
    """The outcome of the trial; None: measure on. Racing applies only to the search: each confirming trial counts."""
    objective, window, blocks = session.plan.objective, session.plan.window, measurement.blocks
    for count in _looks(blocks, GUARD_EVERY_S):
        if (why := tripped(_newest(blocks[:count], GUARD_S), objective)) is not None:
            why += _STILL if measurement.silent else ""
            return _unsafe(blocks[:count], objective, why) if _ever(session, blocks[:count]) else _unseen(session)
    if session.plan.cpu:
        if measurement.unknown and _ever(session, blocks):
            named = ", ".join(measurement.unknown[:NAMED])
            more = f" and {len(measurement.unknown) - NAMED} more" if len(measurement.unknown) > NAMED else ""
            return Outcome(TrialVerdict.FAILED, why=f"cpu_ms is unknown: no CPU metrics of {named}{more}")
        blocks = list(takewhile(lambda block: block.cpu_s is not None, blocks))
    best = session.best if trial.purpose is Purpose.SEARCH else None
    upper = None if best is None or best.outcome is None else best.outcome.upper
    if upper is not None:
        for count in _looks(blocks, max(1.0, window.most_s / RACING_LOOKS)):
            if (why := hopeless(blocks[:count], objective, upper, RACING_LOOKS)) is not None:
                return Outcome(TrialVerdict.HOPELESS, worth(blocks[:count], objective).value, why=why)
    if measurement.complete or (blocks and lacking(blocks, objective, window) is None):
        return judged(blocks, objective, window) if _ever(session, blocks) else _unseen(session)
    return None


def _ever(session: Session, blocks: Sequence[Block]) -> bool:
    """Whether the root ever had requests. Otherwise its silence is not the configuration's fault."""
    known = any(trial.outcome is not None and trial.outcome.value is not None for trial in session.trials)
    return known or any(block.completions or block.errors for block in blocks)


def _unseen(session: Session) -> Outcome:
    root = session.plan.root
    what = f"{root.service!r} {root.operation}".strip() if root is not None else ""
    return Outcome(TrialVerdict.FAILED, why=f"the pipeline has no SERVER spans of the root {what}")


def _looks(blocks: Sequence[Block], every_s: float) -> list[int]:
    """The number of blocks at each check: the first block that ends at a multiple of `every_s` or later."""
    counts, seconds, next_s = [], 0.0, every_s
    for count, block in enumerate(blocks, start=1):
        seconds += block.seconds
        if seconds >= next_s - 1e-9:
            counts.append(count)
            next_s = every_s * (math.floor(seconds / every_s + 1e-9) + 1)
    return counts


def _newest(blocks: Sequence[Block], seconds: float) -> Sequence[Block]:
    taken = 0.0
    for count, block in enumerate(reversed(blocks), start=1):
        taken += block.seconds
        if taken >= seconds:
            return blocks[-count:]
    return blocks


def _unsafe(blocks: Sequence[Block], objective: Objective, why: str) -> Outcome:
    stretch = worth(blocks, objective)
    excess = stretch.excess if math.isfinite(stretch.excess) else _WORST
    value = stretch.value if math.isfinite(stretch.value) else None
    return Outcome(TrialVerdict.UNSAFE, value, excess=min(excess, _WORST), why=f"rolled back: {why}")
