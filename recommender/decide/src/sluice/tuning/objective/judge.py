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
    found = worth(blocks, objective)
    if math.isnan(found.value) or math.isnan(found.excess) or (missing and seconds >= window.most_s):
        return Outcome(TrialVerdict.FAILED, why=missing.why if missing else "a metric is unknown")
    known = math.isfinite(found.lower)
    lower, upper = (found.lower, found.upper) if known else (None, None)
    if found.excess > 0:
        broken = [slo for slo in objective.slos if slo.excess(dict(found.figures)[slo.metric]) > 0]
        why = "; ".join(
            f"{slo.metric.value} {dict(found.figures)[slo.metric]:.4g}, its limit {slo.limit:g}" for slo in broken
        )
        return Outcome(TrialVerdict.UNSAFE, found.value, lower, upper, min(found.excess, _EXCESS), why)
    return Outcome(TrialVerdict.GOOD, found.value, lower, upper)
