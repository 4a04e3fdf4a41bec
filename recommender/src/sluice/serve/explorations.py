"""Steps of exploration under way, per pool: whether one gained anything is known a window after it, or sooner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.config import PoolKey
from sluice.estimate.samples import Samples
from sluice.guard.exploration import EARLY_MS, Sight, Step, gained, gained_early, under_demand


@dataclass(frozen=True)
class Verdict:
    """back: the size to go back to, None when the step was right or is not judged yet.

    failed_ms: when a step last gained nothing (Unix ms), None when none did.
    gained: whether the step to the current size is known to have gained.
    stands_ms: when the step to the current size began, None when it was taken back or the size is not of a step.
    """

    back: int | None = None
    failed_ms: int | None = None
    stands_ms: int | None = None
    gained: bool = False


class Explorations:
    """For the control loop's thread alone. Not kept over a restart: a step then stands as if it had gained."""

    def __init__(self) -> None:
        self._steps: dict[PoolKey, Step] = {}
        self._failed: dict[PoolKey, int] = {}
        self._stands: dict[PoolKey, tuple[int, int]] = {}
        self._gained: dict[PoolKey, int] = {}

    def began(self, key: PoolKey, from_size: int, to_size: int, samples: Samples | None, now_ms: int) -> None:
        """A step was proposed; it counts once an actuator reports the larger size."""
        self._stands[key] = (to_size, now_ms)
        self._gained.pop(key, None)
        before = _at(samples, from_size)
        if before is not None and to_size > from_size:
            self._steps[key] = Step(from_size, to_size, before)

    def judge(
        self, key: PoolKey, current: int | None, unchanged_ms: int, window_ms: int, samples: Samples | None, now_ms: int
    ) -> Verdict:
        """`samples` are those of the window that ends now; only those at the current size count.

        Both answers are given as soon as they are clear, and one of them when the size has been in force for a window.
        """
        verdict = self._judge(key, current, unchanged_ms, window_ms, samples, now_ms)
        size, began_ms = self._stands.get(key, (None, 0))
        if verdict.back is not None:
            self._stands.pop(key, None)
        elif size is not None and size == current:
            return replace(verdict, stands_ms=began_ms, gained=self._gained.get(key) == current)
        return verdict

    def _judge(
        self, key: PoolKey, current: int | None, unchanged_ms: int, window_ms: int, samples: Samples | None, now_ms: int
    ) -> Verdict:
        step, failed = self._steps.get(key), self._failed.get(key)
        if step is None or current is None:
            return Verdict(failed_ms=failed)
        if current != step.to_size:
            # Not applied yet; or taken back, or resized by somebody else, and then there is nothing left to judge.
            if current != step.from_size or step.failed:
                del self._steps[key]
            return Verdict(failed_ms=failed)
        if not step.failed:
            after = _at(samples, step.to_size)
            if after is None or unchanged_ms < EARLY_MS:
                return Verdict(failed_ms=failed)
            known = (gained if unchanged_ms >= window_ms else gained_early)(step.before, after)
            if known:
                del self._steps[key]
                self._gained[key] = current
            if known is not False:
                return Verdict(failed_ms=failed)
            self._steps[key], self._failed[key] = replace(step, failed=True), now_ms
        return Verdict(step.from_size, self._failed[key])

    def forget(self, key: PoolKey) -> None:
        """The service became another one: what was tried says nothing."""
        self._steps.pop(key, None)
        self._failed.pop(key, None)
        self._stands.pop(key, None)
        self._gained.pop(key, None)


def _at(samples: Samples | None, size: int) -> Sight | None:
    """What the buckets say in which a pool of this size was in force and full."""
    return None if samples is None else under_demand(samples.take(samples.limit == size), size)
