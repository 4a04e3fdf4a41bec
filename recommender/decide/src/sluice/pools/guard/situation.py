"""What is known of a pool beside its estimate, and what is proposed for it."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.pools.estimate import Reason
from sluice.pools.estimate.collapse import Collapse
from sluice.pools.estimate.memory import Carried, Prior

# An estimate on new ground takes at least 100 buckets of 50 ms: a younger one was made before the change was told.
SOONEST_MS = 5_000


@dataclass(frozen=True)
class LastGood:
    """The newest target that came from a curve; `at_ms`: Unix time of the estimate."""

    target: int
    at_ms: int


@dataclass(frozen=True)
class Lost:
    """A size that a curve named and that completed less than the one before it did; `at_ms`: when that was seen."""

    from_size: int
    to_size: int
    at_ms: int


@dataclass(frozen=True)
class Situation:
    """What is known of a pool beside its estimate.

    current         size that an actuator read back within the last minute, None when unknown
    unchanged_ms    how long that size has been in force, as far as reports go
    since_change_ms how long ago the size was seen to change, None when it never was
    heading         the target of the answer before, None without one
    since_ms        when the service last became another one: scaled, released, drifted; None when it never did
    prior           what remembered curves say, None without any that fits
    back            the size before a step that gained nothing, or lost, None without one
    failed_up_ms    when an exploration upward last gained nothing, None when none did; failed_down_ms: downward
    stands_ms       when the exploration began that led to the current size, None where none did or it was taken back
    carried         what a size in force on another footing says, None without one
    short_lately    whether the pool was full often in the newest seconds and then completed most, on whatever footing
    gained          1 when the step up that led to the current size is known to have gained, -1 a step down, else 0
    lost            the newest size of a curve that completed less than the one before it, None without one
    collapse        that the full pool completes less than it did below its size, None where it does not
    served          whether nearly all callers get their responses in time even while the pool is full
    futile          whether a larger pool is of no use: nearly all get them in time even while it is full, or requests
                    take longer than the threshold inside it already
    starving        whether it is full nearly all the time and most callers get their responses too late
    """

    now_ms: int
    current: int | None
    unchanged_ms: int
    last_good: LastGood | None
    window_ms: int
    explore_after_ms: int
    since_change_ms: int | None = None
    heading: int | None = None
    since_ms: int | None = None
    prior: Prior | None = None
    back: int | None = None
    failed_up_ms: int | None = None
    failed_down_ms: int | None = None
    stands_ms: int | None = None
    carried: Carried | None = None
    short_lately: bool = False
    gained: int = 0
    lost: Lost | None = None
    collapse: Collapse | None = None
    served: bool = False
    starving: bool = False
    futile: bool = False


@dataclass(frozen=True)
class Proposal:
    """A size on its way to the guard; None when there is nothing to apply.

    explores: it is a step on trial. measured: it rests on sizes that were in force and full, not on a curve; such a
    step need not wait for what a curve that is uncertain has to.
    """

    target: int | None
    reasons: tuple[Reason, ...]
    explores: bool = False
    measured: bool = False


def known(situation: Situation) -> bool:
    """Whether the last good value is of the service as it is now."""
    good, since = situation.last_good, situation.since_ms
    return good is not None and (since is None or good.at_ms - since >= SOONEST_MS)


def lately(at_ms: int | None, situation: Situation) -> bool:
    """Whether something was less than `explore_after` ago."""
    return at_ms is not None and situation.now_ms - at_ms < situation.explore_after_ms
