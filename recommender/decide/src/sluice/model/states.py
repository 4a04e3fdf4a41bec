"""How well a pool is known; the names are those of sluice.pools.v1.State, without their prefix."""

from enum import Enum


class State(Enum):
    """The quality of a decision or an estimate, for people."""

    PROVIDED = "PROVIDED"
    """The best size is known within 2 %, or by a published model's rules."""
    LEARNING = "LEARNING"
    UNSATURATED = "UNSATURATED"
    """Never full on this CPU limit: no larger size is needed."""
    NO_DATA = "NO_DATA"
    PAUSED = "PAUSED"
    GUARDED = "GUARDED"
    """Bounds, or the backend's capacity, rule out a better size."""
