"""Lines for people about loads and hosts that are outside of the range of the latency samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sluice.subsets.fleet import Fleet, Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.problem import Problem

#: Loads and utilizations may be this far above the highest sample; the error of a measured rate is not smaller.
RATE_MARGIN, UTILIZATION_MARGIN = 1.1, 0.05
#: The most containers that a line names. It counts the rest.
NAMED = 3


def range_notes(problem: Problem, curves: Sequence[Curves], work: Sequence[Floats]) -> tuple[str, ...]:
    """work: as of `flow`. Services that nobody calls over connections have no predicted latency, and no line."""
    called = sorted({pair.downstream for pair in problem.pairs})
    return tuple(line for number in called for line in _lines(problem.fleets[number], curves[number], work[number]))


def _lines(fleet: Fleet, curves: Curves, work: Floats) -> Iterator[str]:
    high = [at for at, load in enumerate(work.tolist()) if load > RATE_MARGIN * curves.highest_per_s]
    if high:
        verb = "gets" if len(high) == 1 else "get"
        yield (
            f"{fleet.service}: {_some(fleet, high)} {verb} up to {work[high].max():.3g} calls/s, and no latency sample"
            f" has more than {curves.highest_per_s:.3g}/s: the latency there is extrapolated"
        )
    if curves.busiest is None:
        return
    busy = np.flatnonzero((fleet.contention > curves.busiest + UTILIZATION_MARGIN).any(axis=1)).tolist()
    if busy:
        hosts, are, its = ("host", "is", "its") if len(busy) == 1 else ("hosts", "are", "their")
        yield (
            f"{fleet.service}: the {hosts} of {_some(fleet, busy)} {are} busier than in any latency sample: {its}"
            " latency is that of the busiest ones"
        )


def _some(fleet: Fleet, those: Sequence[int]) -> str:
    more = f" and {len(those) - NAMED} more" if len(those) > NAMED else ""
    return ", ".join(fleet.names[at] for at in those[:NAMED]) + more
