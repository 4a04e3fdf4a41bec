"""Racing: ends a trial early that can no longer be the best (Maron and Moore 1997; F-Race, Birattari 2002)."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.tuning.objective.block import Block
from sluice.tuning.objective.objective import Objective, worth

# The probability to end a trial, at any check, although it is as good as the best one.
WRONG = 0.05
LEAST_BLOCKS = 5


def hopeless(blocks: Sequence[Block], objective: Objective, best_upper: float, looks: int) -> str | None:
    """Why the trial cannot win: the lower end of its interval is above the upper end of the best one's. None: it may
    win.

    looks: how often one trial is checked. Each check has WRONG / looks of the error (Bonferroni). Worked: with 5 checks
    each is at 99 %. The bootstrap has 400 samples, so more than 20 checks count as 20.
    """
    if len(blocks) < LEAST_BLOCKS:
        return None
    stretch = worth(blocks, objective, 1 - 2 * WRONG / min(max(looks, 2), 20))  # one-sided: half of the rest
    if stretch.lower > best_upper:
        return f"at least {stretch.lower:.4g}; the best is at most {best_upper:.4g}"
    return None
