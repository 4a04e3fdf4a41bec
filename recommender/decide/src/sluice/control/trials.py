"""Sizes on trial, per pool: whether one was right is known a window after it began, or sooner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.core.keys import PoolKey
from sluice.pools.estimate.samples import Samples
from sluice.pools.guard.situation import Lost
from sluice.pools.guard.trial import EARLY_MS, Sight, Step, about, passes, under_demand


@dataclass(frozen=True)
class Verdict:
    """back: the size to go back to, None when the step was right or is not judged yet.

    failed_up_ms, failed_down_ms: when a step of exploration last gained nothing (Unix ms), None when none did.
    stands_ms: when the exploration began that led to the current size, None when none did or it was taken back.
    gained: 1 when it is known that the step up to the current size gained, -1 for a step down, else 0.
    lost: the newest size of a curve that completed less than the one before it.
    """

    back: int | None = None
    failed_up_ms: int | None = None
    failed_down_ms: int | None = None
    stands_ms: int | None = None
    gained: int = 0
    lost: Lost | None = None


class Trials:
    """For the control loop's thread alone. Not kept over a restart: a step then stands as if it had been right."""

    def __init__(self) -> None:
        self._steps: dict[PoolKey, Step] = {}
        self._known: dict[PoolKey, Verdict] = {}
        self._stands: dict[PoolKey, tuple[int, int]] = {}
        self._gained: dict[PoolKey, tuple[int, int]] = {}

    def began(self, key: PoolKey, from_size: int, to_size: int, samples: Samples | None, now_ms: int) -> None:
        """A step was proposed; it counts once an actuator reports the new size."""
        self._stands[key] = (to_size, now_ms)
        self._gained.pop(key, None)
        before = _at(samples, from_size)
        if before is not None:
            self._steps[key] = Step(from_size, to_size, before)

    def shrank(self, key: PoolKey, from_size: int, to_size: int, samples: Samples | None) -> None:
        """A curve named a smaller size: what it completes when full has to be about what as many in flight did."""
        before = about(samples, to_size)
        if before is not None:
            self._steps[key] = Step(from_size, to_size, before, explores=False)

    def judge(
        self, key: PoolKey, current: int | None, unchanged_ms: int, window_ms: int, samples: Samples | None, now_ms: int
    ) -> Verdict:
        """`samples` are those of the window that ends now; only those at the current size count.

        Both answers are given as soon as they are clear, and one of them when the size has been in force for a window.
        """
        step = self._steps.get(key)
        if step is not None and current is not None:
            self._try(key, step, current, unchanged_ms, window_ms, samples, now_ms)
        known, step = self._known.get(key, Verdict()), self._steps.get(key)
        if step is not None and step.failed and current != step.from_size:
            return replace(known, back=step.from_size)
        size, began_ms = self._stands.get(key, (None, 0))
        if size is None or size != current:
            return known
        gained_size, direction = self._gained.get(key, (None, 0))
        return replace(known, stands_ms=began_ms, gained=direction if gained_size == current else 0)

    def _try(
        self,
        key: PoolKey,
        step: Step,
        current: int,
        unchanged_ms: int,
        window_ms: int,
        samples: Samples | None,
        now_ms: int,
    ) -> None:
        if not step.reaches(current):
            # Not applied yet; or taken back, or resized by somebody else, and then there is nothing left to judge.
            if current != step.from_size or step.failed:
                del self._steps[key]
            return
        after = _at(samples, current)
        if step.failed or after is None or unchanged_ms < EARLY_MS:
            return
        right = passes(step, after, early=unchanged_ms < window_ms)
        if right:
            del self._steps[key]
            if step.explores:
                self._gained[key] = (current, 1 if step.up else -1)
        elif right is False:
            self._steps[key] = replace(step, failed=True)
            self._stands.pop(key, None)
            known = self._known.get(key, Verdict())
            if not step.explores:
                self._known[key] = replace(known, lost=Lost(step.from_size, current, now_ms))
            elif step.up:
                self._known[key] = replace(known, failed_up_ms=now_ms)
            else:
                self._known[key] = replace(known, failed_down_ms=now_ms)

    def forget(self, key: PoolKey) -> None:
        """The service became another one: what was explored says nothing. A shrink stays on trial.

        Whether it loses because it was wrong, or requests became heavier meanwhile: the size before it was larger.
        """
        step = self._steps.get(key)
        if step is not None and step.explores:
            del self._steps[key]
        for kept in (self._known, self._stands, self._gained):
            kept.pop(key, None)


def _at(samples: Samples | None, size: int) -> Sight | None:
    """What the buckets say in which a pool of this size was in force and full."""
    return None if samples is None else under_demand(samples.take(samples.limit == size), size)
