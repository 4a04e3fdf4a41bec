"""The outcome of a trial, and the loss that a method gets for it.

Every trial has a loss: a method that does not learn of a failed trial proposes it again. Good and hopeless trials have
their value. The others follow by rank, at the mean distance of the values before them:

    hopeless, good   their values (for a hopeless one, the value when it was ended)
    unsafe           behind all of those, by the share by which they exceed their SLO; equal shares have one rank
    failed           behind all of those, on one rank

Worked: good 100, 110 and 140, unsafe by 0.1 and by 0.5, one failed. The mean distance is (140 - 100) / 2 = 20: 160, 180
and 200. With one value, or equal ones, the distance is a tenth of it, or 1 where it is 0. Without any, losses are 1, 2,
... by rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

# The largest value. Models square differences, which are still finite for it.
LARGEST = 1e100


class TrialVerdict(Enum):
    GOOD = "measured, and within every SLO"
    HOPELESS = "given up early: it cannot be the best"
    UNSAFE = "passed an SLO"
    FAILED = "could not be set, or not be measured"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial.

    value         the objective; None where it is unknown
    lower, upper  its interval; None where that is unknown
    excess        for an unsafe trial: the share by which it exceeds an SLO
    """

    verdict: TrialVerdict
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    excess: float = 0.0
    why: str = ""


def losses(outcomes: Sequence[Outcome]) -> list[float]:
    """The loss of each outcome: finite, smaller is better."""
    valued = [_value(outcome) for outcome in outcomes if _has_value(outcome)]
    worst, gap = _going_on(valued)
    excesses = sorted({outcome.excess for outcome in outcomes if outcome.verdict is TrialVerdict.UNSAFE})
    ranks = {excess: rank for rank, excess in enumerate(excesses, start=1)}
    values = []
    for outcome in outcomes:
        if _has_value(outcome):
            values.append(_value(outcome))
        elif outcome.verdict is TrialVerdict.UNSAFE:
            values.append(worst + gap * ranks[outcome.excess])
        else:
            values.append(worst + gap * (len(excesses) + 1))
    return values


def problem(outcome: Outcome) -> str | None:
    """The first value of a reported outcome that is not legal; None: all are legal."""
    given = {"value": outcome.value, "lower": outcome.lower, "upper": outcome.upper}
    for name, number in given.items():
        if number is not None and not abs(number) <= LARGEST:
            return f"{name}: {number} is not legal; legal: -{LARGEST:g} to {LARGEST:g}"
    if outcome.verdict is TrialVerdict.GOOD and outcome.value is None:
        return "value: is missing; legal: a number for a good trial"
    if outcome.lower is not None and outcome.upper is not None and outcome.lower > outcome.upper:
        return f"lower: {outcome.lower:g} is above upper: {outcome.upper:g}; legal: lower <= upper"
    if not (math.isfinite(outcome.excess) and outcome.excess >= 0):
        return f"excess: {outcome.excess} is not legal; legal: >= 0, finite"
    return None


def _has_value(outcome: Outcome) -> bool:
    return outcome.verdict in (TrialVerdict.GOOD, TrialVerdict.HOPELESS) and outcome.value is not None


def _value(outcome: Outcome) -> float:
    return outcome.value if outcome.value is not None else math.nan


def _going_on(valued: list[float]) -> tuple[float, float]:
    """The worst value, and the distance of the ranks behind it."""
    if not valued:
        return 0.0, 1.0
    worst = max(valued)
    distances = np.diff(sorted(valued))
    gap = float(distances.mean()) if distances.size else 0.0
    return worst, gap or abs(worst) / 10 or 1.0
