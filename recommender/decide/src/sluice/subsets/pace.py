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
#: How long weights stay unchanged after they were undone, in seconds: twice as long each time, up to MOST_REST_S, so
#: that steps in vain become rare. After CALM_S without one, the first rest is short again.
REST_S, MOST_REST_S, CALM_S = 600.0, 2400.0, 7200.0


@dataclass(frozen=True)
class WeightPace:
    """step: the part of the way. rests_until_s: no weight changes before this time. reverted: what was undone, for
    people; empty where nothing was. undone: how many times in a row."""

    step: float = MOST
    rests_until_s: float = 0.0
    reverted: str = ""
    undone: int = 0


def turned(pace: WeightPace, along: float) -> WeightPace:
    """along: the product of the next change of loads and the last one. Below 0, the loads turn back."""
    if along < 0:
        return replace(pace, step=max(pace.step / 2, LEAST))
    return replace(pace, step=min(pace.step * GROWS, MOST)) if along > 0 else pace


def taken_back(pace: WeightPace, now_s: float, why: str) -> WeightPace:
    """Worked: undone a third time, half an hour after the second rest: it rests for 2,400 s."""
    undone = pace.undone + 1 if now_s - pace.rests_until_s < CALM_S else 1
    rest_s = min(REST_S * 2 ** (undone - 1), MOST_REST_S)
    return WeightPace(max(pace.step / 2, LEAST), now_s + rest_s, why, undone)


def released(pace: WeightPace, now_s: float) -> WeightPace:
    """Without the rest and the halved step of the last undone change, which was not what made the latency worse."""
    return replace(pace, step=min(pace.step * 2, MOST), rests_until_s=now_s, undone=max(pace.undone - 1, 0))


def rests(pace: WeightPace, now_s: float) -> bool:
    return now_s < pace.rests_until_s
