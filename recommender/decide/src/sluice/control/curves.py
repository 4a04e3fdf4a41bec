"""The remembered curves of all pools: learnt once a window, forgotten when a service drifts."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.core.keys import PoolKey
from sluice.pools.estimate.memory import Footing, Remembered


@dataclass(frozen=True)
class Kept:
    """A curve on its way to the database or back; `found` is None when it was forgotten at `at_ms`."""

    key: PoolKey
    footing: Footing
    at_ms: int
    found: Remembered | None


class Curves:
    """For the control loop's thread alone. What changes is handed back to be stored."""

    def __init__(self) -> None:
        self._found: dict[PoolKey, dict[Footing, Remembered]] = {}
        self._drifted: dict[PoolKey, int] = {}

    def restore(self, kept: list[Kept]) -> None:
        for one in kept:
            if one.found is not None:
                self._found.setdefault(one.key, {})[one.footing] = one.found
            else:
                self._drifted[one.key] = max(one.at_ms, self._drifted.get(one.key, 0))

    def of(self, key: PoolKey) -> dict[Footing, Remembered]:
        return self._found.get(key, {})

    def drifted_ms(self, key: PoolKey) -> int | None:
        """When the service last became another one without anybody telling (Unix ms)."""
        return self._drifted.get(key)

    def due(self, key: PoolKey, footing: Footing, bucket_ms: int, now_ms: int, window_ms: int) -> bool:
        """Whether the curve there is none, older than a window, or of other buckets.

        A curve that were replaced every period would follow a drift, and never contradict it.
        """
        before = self.of(key).get(footing)
        return before is None or before.bucket_ms != bucket_ms or now_ms - before.at_ms >= window_ms

    def learn(self, key: PoolKey, footing: Footing, found: Remembered) -> list[Kept]:
        self._found.setdefault(key, {})[footing] = found
        return [Kept(key, footing, found.at_ms, found)]

    def forget(self, key: PoolKey, drifted_ms: int, now_ms: int) -> list[Kept]:
        """Drops the pool's curves of every footing: what changed the service holds at any CPU limit."""
        self._drifted[key] = drifted_ms
        return [
            Kept(key, footing, max(now_ms, found.at_ms + 1), None)
            for footing, found in self._found.pop(key, {}).items()
        ]
