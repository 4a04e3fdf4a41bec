"""What a racer did over several seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.racing import Result

ENOUGH = 0.98
"""Of the best goodput: without it a short p99 counts for nothing, as who completes less has fewer late responses."""


@dataclass(frozen=True)
class Summary:
    """Means over the seeds, and the worst seed."""

    p99_ms: float
    worst_p99_ms: float
    goodput_per_s: float
    worst_goodput_per_s: float
    changes: float


def summary(results: Sequence[Result]) -> Summary:
    p99, goodput = [result.p99_ms for result in results], [result.goodput_per_s for result in results]
    changes = float(np.mean([result.changes for result in results]))
    return Summary(float(np.mean(p99)), max(p99), float(np.mean(goodput)), min(goodput), changes)


def best_p99(of: Mapping[str, Summary]) -> str:
    """Who has the least p99 of those with enough goodput.

    Worked: 100, 99 and 90 good a second at a p99 of 300, 200 and 50 ms: the second, as 90 is under 0.98 of 100.
    """
    most = max(item.goodput_per_s for item in of.values())
    return min((name for name in of if of[name].goodput_per_s >= ENOUGH * most), key=lambda name: of[name].p99_ms)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
