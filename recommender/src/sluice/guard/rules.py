"""The rules of the guard, in the order in which they are applied. Each is a function of the size it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sluice.config import Bounds
from sluice.estimate import Reason

# Changes of at most this share of the target, or of 1, are not worth an actuation inside the band.
DEAD_BAND_SHARE = 0.1


@dataclass(frozen=True)
class Context:
    """current: None when unknown. lower..upper: the estimate's band, None without one."""

    bounds: Bounds
    max_step: int | None
    current: int | None
    lower: int | None
    upper: int | None


@dataclass(frozen=True)
class Change:
    """What a rule made of a size, and why."""

    size: int
    reason: Reason


Rule = Callable[[int, Context], Change | None]
"""None when the rule has nothing to say."""


def dead_band(size: int, context: Context) -> Change | None:
    """Keep the current size when it is as good and the difference small.

    Worked: size 12, band 10..15: a current size of 11 or 13 stays, 14 does not.
    """
    current = context.current
    if current is None or context.lower is None or context.upper is None or current == size:
        return None
    if not context.lower <= current <= context.upper or abs(size - current) > max(1.0, DEAD_BAND_SHARE * size):
        return None
    text = f"{current} is kept: {size} is not told apart from it"
    return Change(current, Reason("DEAD_BAND", text))


def max_step(size: int, context: Context) -> Change | None:
    """At most `max_step` up or down from the current size. Worked: current 64, size 12, step 16 -> 48."""
    if context.current is None or context.max_step is None:
        return None
    low, high = context.current - context.max_step, context.current + context.max_step
    limited = min(max(size, low), high)
    if limited == size:
        return None
    text = f"{size} is more than {context.max_step} from the current {context.current}"
    return Change(limited, Reason("MAX_STEP", text))


def bounds(size: int, context: Context) -> Change | None:
    """Within the pool's bounds. The last rule: no other may lead out of them again."""
    limited = min(max(size, context.bounds.min), context.bounds.max)
    if limited == size:
        return None
    legal = f"{context.bounds.min}..{context.bounds.max}"
    return Change(limited, Reason("BOUNDS", f"{size} is outside the pool's bounds {legal}"))


CHAIN: tuple[Rule, ...] = (dead_band, max_step, bounds)
