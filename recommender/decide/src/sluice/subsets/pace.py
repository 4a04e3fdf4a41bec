"""How fast the weights of a pair go to what the solver wants: a bounded part of the way at a time.

The load that weights bring is part of the contention that the solver takes for given, so that a solution can undo
itself: host contention that follows weights with the gain g (a part x more load makes the solver want g x less) goes to
and fro for ever at a whole step from g = 1 on, at half a step from g = 3. Each return to where weights were one run ago
halves the step further, so that it ends for any g.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

#: The part of the way at most, and at least.
MOST, LEAST = 0.5, 1 / 64
#: A step that goes on in the same direction grows again by this.
GROWS = 1.2
#: So long weights stay that were taken back.
REST_S = 600.0


@dataclass(frozen=True)
class Pace:
    """step: the part of the way. rests_until_s: no weight moves before. reverted: what was taken back, for people;
    empty where nothing was."""

    step: float = MOST
    rests_until_s: float = 0.0
    reverted: str = ""


def turned(pace: Pace, along: float) -> Pace:
    """along: the product of where weights are to go with where they went last; below 0 they turn back."""
    if along < 0:
        return replace(pace, step=max(pace.step / 2, LEAST))
    return replace(pace, step=min(pace.step * GROWS, MOST)) if along > 0 else pace


def taken_back(pace: Pace, now_s: float, why: str) -> Pace:
    return Pace(max(pace.step / 2, LEAST), now_s + REST_S, why)


def rests(pace: Pace, now_s: float) -> bool:
    return now_s < pace.rests_until_s
