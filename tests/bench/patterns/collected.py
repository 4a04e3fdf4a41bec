"""Stands in for the collector: one pool's rows from the testbed's spans; how late they come is measured as in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.controllers.windows_alone import WindowsAlone
from sluice.model.demand import LASTS_S, Demand
from sluice.model.keys import PoolKey
from sluice.pools.policy.observation import Buckets
from sluice.pools.section import PoolsSection
from sluice.pools.windows import Window
from sluice.pools.windows.complete_buckets import whole
from sluice.pools.windows.delay import LONGEST_MS, NEVER, Arrivals, Delay
from sluice.pools.windows.rows import Ints
from sluice.pools.windows.window import OnDemand
from testbed.patterns.windows import BUCKET_MS, ORIGIN_S, Known


class Collected(WindowsAlone):
    """Of one pool with one instance. Nobody knows how far a clock is off: a decision has to stand it."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._delay = Delay(1, BUCKET_MS)
        self._read: Ints = np.zeros(0, dtype=np.int64)
        self._newest_ms = NEVER

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        """As `sluice.pools.windows.demand`: callers' spans of a minute, or the own spans
        of a client pool's service.

        Of who waits: what is in flight at those, beyond what is in the pool.
        """
        key = config.pools[0].key
        threshold_ns = thresholds_ns[key]
        took_s = [call.took_s for call in self._known.calls if to_s - LASTS_S <= call.end_s < to_s]
        if not took_s:
            return {}
        minute = slice(1_000 * (to_s - LASTS_S) // BUCKET_MS, 1_000 * to_s // BUCKET_MS)
        columns = self._known.columns
        in_flight, callers = (item[minute].sum() / 1e9 / LASTS_S for item in (columns.busy_ns, columns.callers_ns))
        demand = Demand(
            until_ms=1_000 * to_s,
            asked_per_s=len(took_s) / LASTS_S,
            in_time=sum(took * 1e9 <= threshold_ns for took in took_s) / len(took_s),
            in_flight=in_flight,
            waiting=max(0.0, callers - in_flight),
        )
        return {key: demand}

    def collect(
        self, config: PoolsSection, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True
    ) -> Window:
        columns = self._known.read(now_ms / 1_000 - ORIGIN_S)
        first, until = max(0, (now_ms - int(config.window) - LONGEST_MS) // BUCKET_MS), now_ms // BUCKET_MS
        columns.reach(until)
        busy_ns = columns.busy_ns[first:until]
        self._delay.take(self._arrivals(busy_ns, first), now_ms, live)
        before_ms = int(self._delay.complete_before(now_ms)[0])
        start_ms = BUCKET_MS * np.arange(first, until)
        rows = busy_ns[None], columns.completions[None, first:until], columns.errors[None, first:until]

        def made(number: int) -> Buckets | None:
            return whole(start_ms, *rows, before_ms, BUCKET_MS)

        return Window({}, OnDemand({config.pools[0].key: 0}, made))

    def _arrivals(self, busy_ns: Ints, first: int) -> Arrivals:
        """busy_ns: of the buckets from the `first` on, as known now."""
        if len(self._read) < first + len(busy_ns):
            more = first + len(busy_ns) - len(self._read)
            self._read = np.concatenate([self._read, np.zeros(more, dtype=np.int64)])
        before = self._read[first : first + len(busy_ns)]
        new = np.flatnonzero(busy_ns != before) if self._newest_ms != NEVER else np.zeros(0, dtype=np.int64)
        brought = (busy_ns - before)[new]
        before[:] = busy_ns
        there = np.flatnonzero(busy_ns)
        if len(there):
            self._newest_ms = BUCKET_MS * (first + int(there[-1]))
        return Arrivals(
            np.zeros(len(new), dtype=np.int64), BUCKET_MS * (first + new), brought, np.array([self._newest_ms])
        )
