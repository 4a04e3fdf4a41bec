"""Racing: a trial that can no longer be the best is given up early (Maron and Moore 1997; F-Race, Birattari 2002)."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.tuning.objective.block import Block
from sluice.tuning.objective.objective import Objective, worth

# Chance to give up, at any look during one trial, what is in truth as good as the best.
WRONG = 0.05
LEAST_BLOCKS = 5


def hopeless(blocks: Sequence[Block], objective: Objective, best_upper: float, looks: int) -> str | None:
    """Why the trial cannot win: the lower end of its interval is above the upper end of the best one's. None: it may.

    looks  how often one trial is looked at: each look has WRONG / looks of the error (Bonferroni). Worked: 5 looks:
    each
           is at 99 %. The bootstrap has 400 samples: more than 20 looks are as 20.
    """
    if len(blocks) < LEAST_BLOCKS:
        return None
    seen = worth(blocks, objective, 1 - 2 * WRONG / min(max(looks, 2), 20))  # one-sided: half of what is left out
    if seen.lower > best_upper:
        return f"at least {seen.lower:.4g} where the best is at most {best_upper:.4g}"
    return None
