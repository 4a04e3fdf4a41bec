"""What is said of a pool; the names are those of sluice.pools.v1.State, without their prefix."""

from enum import Enum


class State(Enum):
    """Of what quality an answer, an estimate or a decision is, for people."""

    PROVIDED = "PROVIDED"
    """The best size is known within 2 %, or by a published model's rules."""
    LEARNING = "LEARNING"
    UNSATURATED = "UNSATURATED"
    """Never full on this CPU limit: no size is needed yet."""
    NO_DATA = "NO_DATA"
    PAUSED = "PAUSED"
    GUARDED = "GUARDED"
    """Bounds, or the backend's limit, hold the pool off the size that would be better."""
