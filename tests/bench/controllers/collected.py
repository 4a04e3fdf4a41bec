"""What the collector would give of pools, from the testbed's windows as they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bench.controllers.bridge import samples_of
from bench.controllers.windows_alone import WindowsAlone
from sluice.model.demand import LASTS_S, Demand
from sluice.model.keys import PoolKey
from sluice.pools.estimate.samples import Floats
from sluice.pools.policy.observation import Buckets
from sluice.pools.section import PoolsSection
from sluice.pools.windows import PoolWindow, Window
from sluice.pools.windows.callees import settled
from sluice.pools.windows.good import with_good
from sluice.pools.windows.rows import WindowRows
from sluice.pools.windows.window import OnDemand
from testbed.columns import Ints
from testbed.fine import PoolWindows

KEPT_MS = 90_000


@dataclass
class _Kept:
    """Of one pool: its newest windows, and all its buckets of the last `KEPT_MS`, each array of shape (n,). Spans that
    ended before the newest of `counts` (s, instances) are in them."""

    newest: PoolWindows
    counts: list[tuple[float, int]] = field(default_factory=list)
    starts_ms: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    concurrency: Floats = field(default_factory=lambda: np.zeros(0))
    completions: Floats = field(default_factory=lambda: np.zeros(0))
    instances: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    waiting: Floats = field(default_factory=lambda: np.zeros(0))
    counted: Ints = field(default_factory=lambda: np.zeros((6, 0), dtype=np.int64))
    """Busy time, completions and good ones of the pool's own spans, and of those that judge it, shape (6, n)."""

    def take(self, now_s: float, windows: PoolWindows) -> None:
        """The buckets that are newer than those that there are; per pool of this size."""
        self.counts.append((now_s, windows.count))
        starts_ms = starts_of(windows)
        instances = in_force(self.counts, starts_ms / 1e3)
        self.newest = replace(windows, own=replace(windows.own, instances=instances))
        new = starts_ms > (self.starts_ms[-1] if len(self.starts_ms) else -1)
        kept = self.starts_ms > (starts_ms[-1] if len(starts_ms) else 0) - KEPT_MS
        concurrency = windows.own.busy_ns / windows.length_ns / instances
        self.concurrency = np.concatenate([self.concurrency[kept], concurrency[new]])
        waiting = (
            np.full(len(new), np.nan)
            if windows.waiting_ns is None
            else windows.waiting_ns / windows.length_ns / instances
        )
        self.waiting = np.concatenate([self.waiting[kept], waiting[new]])
        self.completions = np.concatenate([self.completions[kept], (windows.own.completions / instances)[new]])
        of = windows.own, windows.judge
        counted = np.stack([column for one in of for column in (one.busy_ns, one.completions, one.good)])
        self.counted = np.concatenate([self.counted[:, kept], counted[:, new]], axis=1)
        self.instances = np.concatenate([self.instances[kept], instances[new]])
        self.starts_ms = np.concatenate([self.starts_ms[kept], starts_ms[new]])

    def whole(self, judged: bool) -> Buckets | None:
        """judged: with completions in time, as the collector has them of pools that it judges."""
        whole = Buckets(
            self.starts_ms,
            self.concurrency,
            self.completions,
            self.newest.length_ns // 1_000_000 / 1_000,
            instances=self.instances,
            known_ms=1e3 * self.counts[-1][0],
            waiting=settled(self.waiting, self.instances, self.newest.length_ns // 1_000_000),
        )
        if judged and len(whole):
            rows = self._rows()
            whole = with_good(whole, rows, bool(rows.judge_completions.any()), whole.bucket_ms)
        return whole if len(whole) else None

    def demand(self, to_s: int) -> Demand | None:
        """As `sluice.pools.windows.demand`, of the newest minute; None where no spans of callers judge the pool."""
        minute = (self.starts_ms >= 1_000 * (to_s - LASTS_S)) & (self.starts_ms < 1_000 * to_s)
        busy_ns, _, _, judge_busy_ns, judge, judge_good = self.counted[:, minute]
        if not judge.any():
            return None
        instances = self.instances[minute].max()
        per_instance = 1.0 / LASTS_S / instances
        return Demand(
            until_ms=1_000 * to_s,
            asked_per_s=float(judge.sum()) * per_instance,
            in_time=float(judge_good.sum() / judge.sum()),
            in_flight=float(busy_ns.sum()) / 1e9 * per_instance,
            waiting=max(0.0, float(judge_busy_ns.sum() - busy_ns.sum())) / 1e9 * per_instance,
        )

    def _rows(self) -> WindowRows:
        busy_ns, own, own_good, judge_busy_ns, judge, judge_good = self.counted
        return WindowRows(self.starts_ms, busy_ns, own, own_good, self.instances, judge, judge_good, judge_busy_ns)


class Collected(WindowsAlone):
    """Stands in for the collector: whatever the testbed gave is whole, and spans name no services above."""

    def __init__(self) -> None:
        self._kept: dict[PoolKey, _Kept] = {}

    def take(self, key: PoolKey, now_s: float, windows: PoolWindows) -> None:
        self._kept.setdefault(key, _Kept(windows)).take(now_s, windows)

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        found = {pool.key: self._kept[pool.key].demand(to_s) for pool in config.pools if pool.key in thresholds_ns}
        return {key: demand for key, demand in found.items() if demand is not None}

    def collect(
        self, config: PoolsSection, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True
    ) -> Window:
        kept = [self._kept[pool.key] for pool in config.pools]
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        return Window(
            OnDemand(numbers, lambda number: measured(kept[number].newest)),
            OnDemand(numbers, lambda number: kept[number].whole(config.pools[number].key in thresholds_ns)),
        )


def starts_of(windows: PoolWindows) -> Ints:
    """Where its buckets begin, ms."""
    starts: Ints = (windows.since_ns + np.arange(len(windows.sizes)) * windows.length_ns) // 1_000_000
    return starts


def in_force(counts: list[tuple[float, int]], starts_s: Floats) -> Ints:
    """The count last seen at each start, the first one before that. [(5, 1), (10, 2)] at 3, 7 and 12 s: 1, 1, 2."""
    times, values = zip(*counts, strict=True)
    index = np.searchsorted(times, starts_s, side="right") - 1
    return np.array(values, dtype=np.int64)[np.maximum(index, 0)]


def measured(windows: PoolWindows) -> PoolWindow | None:
    """For published models: the buckets with something in flight."""
    samples = samples_of(windows)
    if samples is None:
        return None
    keep = np.flatnonzero((windows.own.busy_ns > 0) & (windows.own.instances > 0))
    return PoolWindow(samples, starts_of(windows)[keep], windows.length_ns // 1_000_000)
