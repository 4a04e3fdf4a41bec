"""Whether a trial ran long enough, and how much longer it should run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.tuning.objective.block import Block
from sluice.tuning.objective.objective import Objective, least_completions, worth


@dataclass(frozen=True)
class TrialLength:
    """How long to measure a trial after its warm-up: at least `least_s`, at most `most_s`. In between it ends when half
    of the interval's width is at most `precision` of the value."""

    warm_up_s: float = 10.0
    least_s: float = 30.0
    most_s: float = 120.0
    precision: float = 0.05


@dataclass(frozen=True)
class Lacking:
    """The reason to measure longer. `seconds`: how much longer it takes at this rate; inf: no request completes."""

    why: str
    seconds: float


def lacking(blocks: Sequence[Block], objective: Objective, window: TrialLength) -> Lacking | None:
    """None: enough. After `most_s` only completions can be missing; then the trial failed.

    An interval shrinks with the square root of the time. Worked: 30 s gave +- 20 %, the plan asks for 10 %: 4 x 30 s,
    so 90 s more.
    """
    seconds = sum(block.seconds for block in blocks)
    done = sum(block.completions for block in blocks)
    least = least_completions(objective)
    if done < least:
        more = (least - done) * seconds / done if done else math.inf
        return Lacking(f"{done} requests completed; a quantile's interval needs {least}", more)
    if seconds < window.least_s:
        return Lacking(f"{seconds:g} s of at least {window.least_s:g} s", window.least_s - seconds)
    if seconds >= window.most_s:
        return None
    known = worth(blocks, objective)
    if math.isnan(known.value):
        return Lacking("a metric of the objective is unknown", math.inf)
    half = (known.upper - known.lower) / 2
    wanted = window.precision * abs(known.value)
    if half <= wanted:
        return None
    more = seconds * ((half / wanted) ** 2 - 1) if wanted > 0 and math.isfinite(half) else math.inf
    return Lacking(f"the interval is +- {half:.3g}; wanted: +- {wanted:.3g}", min(more, window.most_s - seconds))
