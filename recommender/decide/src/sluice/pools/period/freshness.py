"""Checks whether current windows have arrived.

A decider that begins finds older windows. While the pipeline catches up, as after a stop of the whole stack, these do
not show the present. The decider then learns from them, but does not decide.

Windows are current from the decider's start, less the delay of the previous decider and `START_MS`, the assumed delay
before one is measured: so a takeover continues at once. With differing clocks such windows may never arrive; but a
pipeline that has caught up delivers windows only as fast as time passes.

Worked: the last evidence was written at 60.0 s, from windows up to 57.0 s. A decider that begins at 70.0 s decides once
windows of 66.0 s have arrived; one that begins at 300 s, once windows of 296 s have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.state import Learnt
from sluice.pools.windows.delay import LONGEST_MS, START_MS

# A pipeline has caught up if windows advance at most at this ratio to time, measured over at least this long.
STEADY, LOOK_MS = 1.5, 5_000


class _Look(NamedTuple):
    at_ms: int
    newest_ms: int


class Freshness:
    def __init__(self, evidence: Mapping[PoolKey, tuple[Learnt, int]], began_ms: int) -> None:
        """evidence: of the previous decider, with the time (Unix ms) of the decision that came with it."""
        delays_ms = {key: at_ms - learnt.until_ms for key, (learnt, at_ms) in evidence.items()}
        since_ms = began_ms - START_MS
        self._since = {key: since_ms - min(max(delay_ms, 0), LONGEST_MS) for key, delay_ms in delays_ms.items()}
        self._looks: dict[PoolKey, _Look] = {}
        self._began_ms = began_ms
        self._come: set[PoolKey] = set()

    def waits(self, key: PoolKey, whole: Buckets | None, now_ms: int) -> bool:
        """Whether to wait; once current windows arrived, never again. A pool without windows does not wait."""
        if key in self._come or whole is None or len(whole) == 0:
            return False
        newest_ms = int(whole.start_ms[-1])
        if newest_ms >= self._since.get(key, self._began_ms) or self._steady(key, newest_ms, now_ms):
            self._come.add(key)
            self._looks.pop(key, None)
            return False
        return True

    def _steady(self, key: PoolKey, newest_ms: int, now_ms: int) -> bool:
        look = self._looks.setdefault(key, _Look(now_ms, newest_ms))
        passed_ms = now_ms - look.at_ms
        if passed_ms < LOOK_MS:
            return False
        self._looks[key] = _Look(now_ms, newest_ms)
        return 0 < newest_ms - look.newest_ms <= STEADY * passed_ms
