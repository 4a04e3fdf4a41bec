"""What the shipped actuator does with an answer: the rules of `actuators/internal/pools/policy`, for simulated pools.

Both pass every case of `tests/contract/decisions/apply.json`. Pure; times are milliseconds on any one clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

Verb = Literal["observe", "apply", "hold", "refuse"]

HOUR_MS, DAY_MIN = 3_600_000, 1_440
# A size that is needed again and again is written ever more rarely, down to once in so many cool-downs.
MOST_COOLDOWNS = 64
# What takes a harmful change back waits no longer after the last write.
BACK_WITHIN_MS = 10_000


@dataclass(frozen=True)
class Rules:
    """A target's own limits; the defaults are the actuator's, min and max have none.

    apply       the opt-in
    max_factor  how much larger, or smaller, one write may make the pool than a size that was in force; above 1
    per_hour    how many writes an hour may have; 0: no limit
    quiet       hours in which nothing is written, each from a minute of the day up to another, over midnight where
                that is not later; times are Unix ms then
    stopped     the kill switch is on
    """

    min: int
    max: int
    apply: bool = True
    max_factor: float = 2.0
    cooldown_ms: int = 1_000
    per_hour: int = 240
    quiet: tuple[tuple[int, int], ...] = ()
    stopped: bool = False


@dataclass(frozen=True)
class Advice:
    """Of an answer what an actuator looks at. action: of sluice.common.v1, without its prefix.

    sizes  what was read of each instance of the pool; None where it has no limit
    targets  the instances that the target is for; () for all
    basis, reasons  by which an answer says that it takes a change back; codes, of sluice.pools.v1 without its prefix
    """

    action: str
    target: int | None
    valid_until_ms: int | None
    sizes: tuple[tuple[str, int | None], ...] = ()
    targets: tuple[str, ...] = ()
    basis: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def takes_back(self) -> bool:
        """Undoes a change that did harm."""
        return self.basis == "REVERT" or "GAVE_UP" in self.reasons


@dataclass(frozen=True)
class Writes:
    """The last write, how often its size has been written in a row (0: nothing was written yet), the last size that
    was written and then read (0: none), and from when on all writes of an hour may be made again."""

    at_ms: int = 0
    size: int = 0
    repeats: int = 0
    kept: int = 0
    full_ms: float = 0.0

    def next(self, size: int, at_ms: int) -> Writes:
        """After one more write."""
        return Writes(at_ms, size, self.repeats + 1 if size == self.size else 1, self.kept, self.full_ms)

    def spend(self, per_hour: int, at_ms: int) -> Writes:
        """After one of the writes of an hour."""
        return replace(self, full_ms=max(self.full_ms, at_ms) + HOUR_MS / per_hour) if per_hour > 0 else self

    def spent(self, per_hour: int, now_ms: int) -> bool:
        """Whether none is left: each comes back an hour / per_hour after the one before."""
        return per_hour > 0 and self.spend(per_hour, now_ms).full_ms - now_ms > HOUR_MS

    def rest(self, size: int | None, cooldown_ms: int, now_ms: int) -> Writes:
        """The back-off ends once the last size has been in force for as long as its next write would have to wait."""
        waited = self.repeats > 1 and now_ms - self.at_ms >= self.wait_ms(self.size, cooldown_ms)
        return replace(self, repeats=1) if waited and size == self.size else self

    def read(self, size: int | None) -> Writes:
        """After the target was read as `size`, None when it has no limit."""
        return replace(self, kept=self.size) if self.repeats > 0 and size == self.size else self

    def wait_ms(self, size: int, cooldown_ms: int) -> int:
        """Least time from the last write to one of `size`: a cool-down, doubled with each repeat of the same size.

        A size that was kept and is not in place any more was changed by somebody else: put right once without it.
        """
        if self.repeats == 0 or (self.repeats == 1 and size == self.size == self.kept):
            return 0
        return cooldown_ms * (min(1 << (self.repeats - 1), MOST_COOLDOWNS) if size == self.size else 1)


@dataclass(frozen=True)
class Replica:
    """The pool of one instance as it is now.

    size   as it was just read, None when it has no limit
    known  sizes that were in force here when the actuator wrote another one
    """

    instance: str
    size: int | None
    writes: Writes
    known: tuple[int, ...] = ()


@dataclass(frozen=True)
class Decision:
    """size: what to write (`observe`: what would be written); 0 when nothing is."""

    action: Verb
    code: str
    size: int = 0


def decide(rules: Rules, answer: Advice | None, replica: Replica, now_ms: int) -> Decision:
    """What to do at a target."""
    decision = _decide(rules, answer, replica, now_ms)
    return decision if rules.apply else Decision("observe", decision.code, decision.size)


def _decide(rules: Rules, answer: Advice | None, replica: Replica, now_ms: int) -> Decision:
    if answer is None:
        return Decision("hold", "no_answer")
    if answer.action != "APPLY":
        return Decision("hold", "held")
    target = answer.target
    if target is None:
        return Decision("refuse", "no_target")
    if target == 0:
        return Decision("refuse", "out_of_limits")
    if target == replica.size:
        return Decision("hold", "in_place")
    if answer.targets and replica.instance not in answer.targets:
        return Decision("hold", "not_its_turn")
    if answer.valid_until_ms is None or now_ms >= answer.valid_until_ms:
        return Decision("refuse", "lease_over")
    back, goal = answer.takes_back, min(max(target, rules.min), rules.max)
    if goal != target and (not back or goal == replica.size):
        return Decision("refuse", "out_of_limits")
    if rules.stopped:
        return Decision("hold", "stopped")
    if not back and any(_holds(begin, end, now_ms) for begin, end in rules.quiet):
        return Decision("hold", "quiet_hours")
    size = step(rules, answer, goal, replica)
    wait_ms = replica.writes.wait_ms(size, min(rules.cooldown_ms, BACK_WITHIN_MS) if back else rules.cooldown_ms)
    if wait_ms > 0 and now_ms - replica.writes.at_ms < wait_ms:
        return Decision("hold", "backing_off" if size == replica.writes.size else "cooling_down")
    if not back and replica.writes.spent(rules.per_hour, now_ms):
        return Decision("hold", "too_many")
    return Decision("apply", "differs" if size == target else "step", size)


def _holds(begin: int, end: int, now_ms: int) -> bool:
    return (now_ms // 60_000 - begin) % DAY_MIN < ((end - begin) % DAY_MIN or DAY_MIN)


def step(rules: Rules, answer: Advice, target: int, replica: Replica) -> int:
    """How far one write goes: by `max_factor` at most from the nearest size that was in force, by 1 at least, and
    never beyond the limits; from no limit to the target. What takes a change back knows the sizes of earlier too.

    Worked with a factor of 2: 128 -> 12 goes by 64, 32, 16; 1 -> 12 by 2, 4, 8.
    """
    if replica.size is None:
        return target
    others = (size for instance, size in answer.sizes if instance != replica.instance)
    before = replica.known if answer.takes_back else ()
    allowed = [size for size in (replica.writes.kept, *others, *before) if size and rules.min <= size <= rules.max]
    start = nearest([replica.size, *allowed], target)
    up = max(math.floor(start * rules.max_factor), start + 1)
    down = min(math.ceil(start / rules.max_factor), start - 1)
    return min(max(min(max(target, down), up), rules.min), rules.max)


def nearest(sizes: list[int], target: int) -> int:
    """The one whose ratio to the target is nearest to 1, exactly; of equals the first."""
    return min(sizes, key=lambda size: Fraction(max(size, target), min(size, target)))
