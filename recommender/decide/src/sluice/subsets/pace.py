"""The step size of weights: how large a part of the way to the solution they go at a time.

Weights change loads, and loads are part of the contention that the solver takes as given. So a solution can undo
itself. Let g be the gain: a part x more load makes the solver want g x less. With whole steps the loads oscillate for
ever from g = 1 on, with half steps from g = 3 on. Each return to the weights of one run ago halves the step again, so
that the oscillation ends for any g.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

#: The largest and the smallest step, as parts of the way.
MOST, LEAST = 0.5, 1 / 64
#: The factor by which a step in the same direction grows again.
GROWS = 1.2
#: How long weights stay unchanged after they were undone, in seconds.
REST_S = 600.0


@dataclass(frozen=True)
class WeightPace:
    """step: the part of the way. rests_until_s: no weight changes before this time. reverted: what was undone, for
    people; empty where nothing was."""

    step: float = MOST
    rests_until_s: float = 0.0
    reverted: str = ""


def turned(pace: WeightPace, along: float) -> WeightPace:
    """along: the product of the next change of loads and the last one. Below 0, the loads turn back."""
    if along < 0:
        return replace(pace, step=max(pace.step / 2, LEAST))
    return replace(pace, step=min(pace.step * GROWS, MOST)) if along > 0 else pace


def taken_back(pace: WeightPace, now_s: float, why: str) -> WeightPace:
    return WeightPace(max(pace.step / 2, LEAST), now_s + REST_S, why)


def rests(pace: WeightPace, now_s: float) -> bool:
    return now_s < pace.rests_until_s
