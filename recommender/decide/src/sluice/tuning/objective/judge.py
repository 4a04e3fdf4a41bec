"""Turns the measurement of a trial into its outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sluice.tuning.objective.block import Block
from sluice.tuning.objective.enough import TrialLength, lacking
from sluice.tuning.objective.objective import Objective, worth
from sluice.tuning.objective.outcome import Outcome, TrialVerdict

# The largest excess. An SLO with a limit of 0 would have an infinite one.
_EXCESS = 1e9


def judged(blocks: Sequence[Block], objective: Objective, window: TrialLength) -> Outcome:
    """The outcome of a trial that ran to its end. FAILED: too few requests completed to compute the objective."""
    missing = lacking(blocks, objective, window)
    seconds = sum(block.seconds for block in blocks)
    stretch = worth(blocks, objective)
    if math.isnan(stretch.value) or math.isnan(stretch.excess) or (missing and seconds >= window.most_s):
        return Outcome(TrialVerdict.FAILED, why=missing.why if missing else "a metric is unknown")
    known = math.isfinite(stretch.lower)
    lower, upper = (stretch.lower, stretch.upper) if known else (None, None)
    if stretch.excess > 0:
        broken = [slo for slo in objective.slos if slo.excess(dict(stretch.figures)[slo.metric]) > 0]
        why = "; ".join(
            f"{slo.metric.value} {dict(stretch.figures)[slo.metric]:.4g}, its limit {slo.limit:g}" for slo in broken
        )
        return Outcome(TrialVerdict.UNSAFE, stretch.value, lower, upper, min(stretch.excess, _EXCESS), why)
    return Outcome(TrialVerdict.GOOD, stretch.value, lower, upper)
