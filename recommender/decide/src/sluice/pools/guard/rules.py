"""The rules of the guard, in the order in which they are applied. Each is a function of the size it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sluice.config import Limits
from sluice.pools.estimate import Reason
from sluice.pools.guard.backends import Ceiling

# Changes of at most this share of the target, or of 1, are not worth an actuation inside the band.
DEAD_BAND_SHARE = 0.1


@dataclass(frozen=True)
class Context:
    """What the rules look at beside the size.

    current         None when unknown
    lower, upper    the estimate's band, None without one
    since_change_ms how long ago the size was last seen to change, None when it never was
    ceiling         of the backend that the pool leads to, None where it sets none
    heading         the target of the answer before, None without one
    measured        whether the size rests on sizes that were in force, not on a curve
    """

    limits: Limits
    now_ms: int = 0
    current: int | None = None
    lower: int | None = None
    upper: int | None = None
    since_change_ms: int | None = None
    ceiling: Ceiling | None = None
    heading: int | None = None
    measured: bool = False


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
    """At most `max_step_up` above and `max_step_down` below the current size. Worked: 64 to 12 by 16 -> 48."""
    current, limits = context.current, context.limits
    if current is None:
        return None
    up, down = limits.max_step_up, limits.max_step_down
    limited = size
    if up is not None:
        limited = min(limited, current + up)
    if down is not None:
        limited = max(limited, current - down)
    if limited == size:
        return None
    text = f"{size} is more than {abs(limited - current)} from the current {current}"
    return Change(limited, Reason("MAX_STEP", text))


def cool_down(size: int, context: Context) -> Change | None:
    """Keep the current size for a while after it changed: shorter before it grows again than before it shrinks.

    Against curves that are not certain yet. A size that was in force and is known to be worse need not stay. Nor does
    one that lies on the way to the last target: an actuator goes there in steps, and each is a change of the size.
    Worked: 64 -> 12 goes by 32 and 16; at 32, with 12 or 14 named and 12 before, the cool-down is not asked.
    """
    current, since = context.current, context.since_change_ms
    if current is None or since is None or size == current or context.measured:
        return None
    heading = context.heading
    if heading is not None and heading != current and (heading < current) == (size < current):
        return None
    wait = context.limits.cool_down_up if size > current else context.limits.cool_down_down
    if since >= wait:
        return None
    text = f"{size} has to wait: the size changed {since / 1000:.0f} s ago, {wait / 1000:.0f} s must pass"
    return Change(current, Reason("COOL_DOWN", text))


def quiet_hours(size: int, context: Context) -> Change | None:
    """Keep the current size in the hours in which nothing is to change."""
    current = context.current
    if current is None or size == current:
        return None
    for hours in context.limits.quiet_hours:
        if hours.hold(context.now_ms):
            return Change(current, Reason("QUIET_HOURS", f"{size} has to wait: nothing changes {hours} UTC"))
    return None


def backend_limit(size: int, context: Context) -> Change | None:
    """At most what the backend's capacity leaves to this pool; see `backends.py`."""
    if context.ceiling is None or size <= context.ceiling.size:
        return None
    return Change(context.ceiling.size, Reason("BACKEND_LIMIT", context.ceiling.text))


def bounds(size: int, context: Context) -> Change | None:
    """Within the pool's bounds. The last rule: no other may lead out of them again."""
    low, high = context.limits.bounds.min, context.limits.bounds.max
    limited = min(max(size, low), high)
    if limited == size:
        return None
    legal = f"{low}..{high}"
    return Change(limited, Reason("BOUNDS", f"{size} is outside the pool's bounds {legal}"))


# A backend that is asked for too much is relieved at once: its limit comes behind the rules that only keep calm.
CHAIN: tuple[Rule, ...] = (dead_band, max_step, cool_down, quiet_hours, backend_limit, bounds)
