"""Whether a trial has run long enough, and how much longer it should."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.tuning.objective.block import Block
from sluice.tuning.objective.objective import Objective, least_completions, worth


@dataclass(frozen=True)
class Window:
    """How long a trial is measured, after its warm-up: at least `least_s`, at most `most_s`, in between until half of
    the interval's width is at most `precision` of the value."""

    warm_up_s: float = 10.0
    least_s: float = 30.0
    most_s: float = 120.0
    precision: float = 0.05


@dataclass(frozen=True)
class Lacking:
    """What is not known well enough yet. `seconds`: how much longer it takes at this rate; inf: nothing completes."""

    why: str
    seconds: float


def lacking(blocks: Sequence[Block], objective: Objective, window: Window) -> Lacking | None:
    """None: enough. After `most_s` only completions can be lacking: then the trial failed.

    An interval shrinks with the root of the time. Worked: 30 s gave +- 20 % and 10 % is asked for: 4 x 30 s, 90 s more.
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
        return Lacking("a figure of the objective is not known", math.inf)
    half = (known.upper - known.lower) / 2
    asked = window.precision * abs(known.value)
    if half <= asked:
        return None
    more = seconds * ((half / asked) ** 2 - 1) if asked > 0 and math.isfinite(half) else math.inf
    return Lacking(f"known to +- {half:.3g}, asked for +- {asked:.3g}", min(more, window.most_s - seconds))
