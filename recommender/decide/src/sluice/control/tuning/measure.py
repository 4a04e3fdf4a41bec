"""How a trial that is in force is ended by what the pipeline saw of it: the SLO guard, racing, enough. Pure.

Looks are at blocks of times that do not depend on when this is called, so the same trial ends the same way whoever
measures it, and the chance of an error in a whole trial is bounded: there are so many looks, however often it is asked.
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
from sluice.tuning.objective.outcome import Outcome, Verdict
from sluice.tuning.objective.racing import hopeless
from sluice.tuning.session.session import Plan, Purpose, Root, Session, Trial

# Of the guard: how much it looks at, and how often.
GUARD_S, GUARD_EVERY_S = 10.0, 5.0
# Of racing, in a whole trial: more would cost the bootstrap's tails (`racing.hopeless`).
RACING_LOOKS = 20
# Containers in an answer: a trial is a record of the log, and there may be thousands.
NAMED = 10
# Of nothing that completes: as large as an excess can be.
_WORST = 1e9
_STILL = "; nothing of any other service came either: the pipeline may stand still"


class Span(NamedTuple):
    """What is to be measured, Unix ms: [from_ms, to_ms) of the root's requests. cpu: and what CPU time they took."""

    root: Root
    from_ms: int
    to_ms: int
    cpu: bool = False


@dataclass(frozen=True)
class Measured:
    """whole: nothing more of the span is to come. silent: the newest are empty as nothing of any service came. unknown:
    whose CPU was asked for and never came."""

    blocks: Sequence[Block]
    whole: bool
    silent: bool = False
    unknown: Sequence[str] = ()


def spans(sessions: Mapping[str, Session]) -> dict[TrialName, Span]:
    """Of all trials that are in force."""
    return {
        TrialName(name, trial.number): _span(session.plan, session.plan.root, trial.applied_ms)
        for name, session in sessions.items()
        if session.plan.root is not None
        for trial in session.flying
        if trial.applied_ms is not None
    }


def _span(plan: Plan, root: Root, applied_ms: int) -> Span:
    from_ms = applied_ms + round(1000 * plan.window.warm_up_s)
    return Span(root, from_ms, from_ms + round(1000 * plan.window.most_s), plan.cpu)


def ended(session: Session, trial: Trial, seen: Measured) -> Outcome | None:
    """None: it is to be measured on. Only what the search tries is raced: of confirming trials each value counts."""
    objective, window, blocks = session.plan.objective, session.plan.window, seen.blocks
    for count in _looks(blocks, GUARD_EVERY_S):
        if (why := tripped(_newest(blocks[:count], GUARD_S), objective)) is not None:
            why += _STILL if seen.silent else ""
            return _unsafe(blocks[:count], objective, why) if _ever(session, blocks[:count]) else _unseen(session)
    if session.plan.cpu:
        if seen.unknown and _ever(session, blocks):
            named = ", ".join(seen.unknown[:NAMED])
            more = f" and {len(seen.unknown) - NAMED} more" if len(seen.unknown) > NAMED else ""
            return Outcome(Verdict.FAILED, why=f"cpu_ms is not known: no CPU of {named}{more} was seen")
        blocks = list(takewhile(lambda block: block.cpu_s is not None, blocks))
    best = session.best if trial.purpose is Purpose.SEARCH else None
    upper = None if best is None or best.outcome is None else best.outcome.upper
    if upper is not None:
        for count in _looks(blocks, max(1.0, window.most_s / RACING_LOOKS)):
            if (why := hopeless(blocks[:count], objective, upper, RACING_LOOKS)) is not None:
                return Outcome(Verdict.HOPELESS, worth(blocks[:count], objective).value, why=why)
    if seen.whole or (blocks and lacking(blocks, objective, window) is None):
        return judged(blocks, objective, window) if _ever(session, blocks) else _unseen(session)
    return None


def _ever(session: Session, blocks: Sequence[Block]) -> bool:
    """Whether requests of the root were ever seen: else its silence is no harm that a configuration does."""
    known = any(trial.outcome is not None and trial.outcome.value is not None for trial in session.trials)
    return known or any(block.completions or block.errors for block in blocks)


def _unseen(session: Session) -> Outcome:
    root = session.plan.root
    what = f"{root.service!r} {root.operation}".strip() if root is not None else ""
    return Outcome(Verdict.FAILED, why=f"no SERVER spans of the root {what} were seen")


def _looks(blocks: Sequence[Block], every_s: float) -> list[int]:
    """After how many blocks each look is: the first that ends at a multiple of `every_s` or later."""
    found, seconds, due = [], 0.0, every_s
    for count, block in enumerate(blocks, start=1):
        seconds += block.seconds
        if seconds >= due - 1e-9:
            found.append(count)
            due = every_s * (math.floor(seconds / every_s + 1e-9) + 1)
    return found


def _newest(blocks: Sequence[Block], seconds: float) -> Sequence[Block]:
    taken = 0.0
    for count, block in enumerate(reversed(blocks), start=1):
        taken += block.seconds
        if taken >= seconds:
            return blocks[-count:]
    return blocks


def _unsafe(blocks: Sequence[Block], objective: Objective, why: str) -> Outcome:
    found = worth(blocks, objective)
    excess = found.excess if math.isfinite(found.excess) else _WORST
    value = found.value if math.isfinite(found.value) else None
    return Outcome(Verdict.UNSAFE, value, excess=min(excess, _WORST), why=f"rolled back: {why}")
