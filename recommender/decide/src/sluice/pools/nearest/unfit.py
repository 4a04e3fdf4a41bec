"""The pools of the configuration that do not fit what spans show, looked up every 30 s."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from types import MappingProxyType

from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.model.reason import Reason
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.metrics.in_force import by_metrics
from sluice.pools.nearest.instances import instances_differ
from sluice.pools.nearest.reasons import Nearest
from sluice.pools.period.source import WindowSource

EVERY_MS = 30_000
ACTIVITY = "candidate pools"
Targets = Mapping[PoolKey, tuple[TargetSize, ...]]


class UnfitPools:
    """Asks only while a pool has no data, or targets of different sizes, whose spans have to be told apart."""

    def __init__(self) -> None:
        self._reasons: Mapping[PoolKey, Reason] = MappingProxyType({})
        self._read_ms: int | None = None

    def look(
        self, silent: Collection[PoolKey], targets: Targets, collector: WindowSource, now_ms: int, problems: Problems
    ) -> Mapping[PoolKey, Reason]:
        """The reason of each pool that does not fit. silent: pools whose newest answer is NO_DATA. After a failed
        reading the last reasons stay."""
        mixed = {key: of for key, of in targets.items() if len({target.size for target in of}) > 1}
        mixed = {key: of for key, of in mixed.items() if not by_metrics(of)}
        due = self._read_ms is None or abs(now_ms - self._read_ms) >= EVERY_MS
        if due and (silent or mixed):
            self._read_ms = now_ms
            read = partial(self._read, silent, mixed, collector, now_ms)
            self._reasons = problems.result(ACTIVITY, read, self._reasons)
        return {key: reason for key, reason in self._reasons.items() if key in silent or key in mixed}

    @staticmethod
    def _read(
        silent: Collection[PoolKey], mixed: Targets, collector: WindowSource, now_ms: int
    ) -> dict[PoolKey, Reason]:
        candidates = collector.pools_in_spans(() if silent else {key.service for key in mixed}, now_ms)
        nearest = Nearest(candidates)
        reasons = {key: nearest.reason(key) for key in silent}
        instances = {candidate.key: candidate.instances for candidate in candidates if candidate.key in mixed}
        reasons |= {
            key: instances_differ(instances.get(key, ()), [target.instance for target in of])
            for key, of in mixed.items()
            if key not in silent
        }
        return {key: reason for key, reason in reasons.items() if reason is not None}
