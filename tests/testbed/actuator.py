"""What the shipped actuator does with an answer: the rules of `actuators/internal/policy`, for simulated pools.

Both pass every case of `tests/contract/decisions/apply.json`. Pure; times are milliseconds on any one clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Verb = Literal["observe", "apply", "hold", "refuse"]

# A size that is needed again and again is written ever more rarely, down to once in so many cool-downs.
MOST_COOLDOWNS = 64


@dataclass(frozen=True)
class Rules:
    """A target's own limits; the defaults are the actuator's, min and max have none.

    apply       the opt-in
    max_factor  how much larger, or smaller, one write may make the pool; above 1
    """

    min: int
    max: int
    apply: bool = True
    max_factor: float = 2.0
    cooldown_ms: int = 3_000


@dataclass(frozen=True)
class Advice:
    """Of an answer what an actuator looks at. action: of sluice.common.v1, without its prefix."""

    action: str
    target: int | None
    valid_until_ms: int | None


@dataclass(frozen=True)
class Writes:
    """The last write, and how often its size has been written in a row (0: nothing was written yet)."""

    at_ms: int = 0
    size: int = 0
    repeats: int = 0

    def next(self, size: int, at_ms: int) -> Writes:
        return Writes(at_ms, size, self.repeats + 1 if size == self.size else 1)

    def wait_ms(self, size: int, cooldown_ms: int) -> int:
        """Least time from the last write to one of `size`: a cool-down, doubled with each repeat of the same size."""
        if self.repeats == 0:
            return 0
        return cooldown_ms * (min(1 << (self.repeats - 1), MOST_COOLDOWNS) if size == self.size else 1)


@dataclass(frozen=True)
class Decision:
    """size: what to write (`observe`: what would be written); 0 when nothing is."""

    action: Verb
    code: str
    size: int = 0


def decide(rules: Rules, answer: Advice | None, current: int | None, writes: Writes, now_ms: int) -> Decision:
    """What to do at a target that was just read as `current`, None when it has no limit."""
    decision = _decide(rules, answer, current, writes, now_ms)
    return decision if rules.apply else Decision("observe", decision.code, decision.size)


def _decide(rules: Rules, answer: Advice | None, current: int | None, writes: Writes, now_ms: int) -> Decision:
    if answer is None:
        return Decision("hold", "no_answer")
    if answer.action != "APPLY":
        return Decision("hold", "held")
    target = answer.target
    if target is None:
        return Decision("refuse", "no_target")
    if target == 0:
        return Decision("refuse", "out_of_limits")
    if target == current:
        return Decision("hold", "in_place")
    if answer.valid_until_ms is None or now_ms >= answer.valid_until_ms:
        return Decision("refuse", "lease_over")
    if not rules.min <= target <= rules.max:
        return Decision("refuse", "out_of_limits")
    size = target if current is None else step(rules, target, current)
    wait_ms = writes.wait_ms(size, rules.cooldown_ms)
    if wait_ms > 0 and now_ms - writes.at_ms < wait_ms:
        return Decision("hold", "backing_off" if size == writes.size else "cooling_down")
    return Decision("apply", "differs" if size == target else "step", size)


def step(rules: Rules, target: int, current: int) -> int:
    """How far one write goes: by `max_factor` at most, by 1 at least, and never beyond the limits.

    Worked with a factor of 2: 128 -> 12 goes by 64, 32, 16; 1 -> 12 by 2, 4, 8.
    """
    up = max(math.floor(current * rules.max_factor), current + 1)
    down = min(math.ceil(current / rules.max_factor), current - 1)
    return min(max(min(max(target, down), up), rules.min), rules.max)
