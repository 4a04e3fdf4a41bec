"""Reads how long services wait for callees: the busy time of their CLIENT spans, beside that of their server pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sluice.clickhouse.database import ArrayDatabase
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.windows.delay import NEVER, Delay
from sluice.pools.windows.reading import WindowReader
from sluice.pools.windows.rows import Ints

# After instances came or went, callees may be at their limit for a while. An instance counts as present up to 5 s
# before its first request.
SETTLES_MS = 20_000


def settled(waiting: Floats, instances: Ints, bucket_ms: int) -> Floats:
    """The waits without those of 20 s after the number of instances changed, which are NaN, shape (n,).

    instances: in these buckets and m before them, shape (m + n,).

    Worked: three replicas instead of one open three times as many connections to their database, which slows. More
    threads for each would make that worse.
    """
    settled_waits, before = waiting.copy(), len(instances) - len(waiting)
    for at in np.flatnonzero(np.diff(instances)).tolist():
        begin = at + 1 - before
        settled_waits[max(0, begin) : max(0, begin + SETTLES_MS // bucket_ms)] = np.nan
    return settled_waits


class CalleeReader:
    """The CLIENT spans of the services of server pools, kept current with the rows inserted since the last period.

    A service that also consumes from a broker is left out: its CLIENT spans may be of either.
    """

    def __init__(self, database: ArrayDatabase) -> None:
        self._reading = WindowReader(database, callees=True)
        self._delay = Delay(0, 1)
        self._numbers: dict[str, int] = {}
        self._before_ms: Ints = np.zeros(0, dtype=np.int64)
        self._bucket_ms = 1

    @property
    def nbytes(self) -> int:
        """Memory of the kept rows, bytes."""
        return self._reading.ring.nbytes

    def read(
        self,
        keys: Sequence[PoolKey],
        span_ms: tuple[int, int],
        bucket_ms: int,
        ahead_ms: Mapping[Instance, int],
        settle_ms: int | None,
        live: bool,
    ) -> None:
        """It raises the database's errors; the next call then catches up.

        keys: of all pools. span_ms: from and to which the buckets start. settle_ms: the configured delay, None where
        the data show it; `live` is as in `Delay.take`.
        """
        consumes = {key.service for key in keys if key.side == "consumer"}
        services = dict.fromkeys(key.service for key in keys if key.side == "server" and key.service not in consumes)
        self._numbers, self._bucket_ms = {service: number for number, service in enumerate(services)}, bucket_ms
        if not services:
            return
        called = [PoolKey(service, "client", "") for service in services]
        arrivals = self._reading.read(called, [None] * len(called), *span_ms, bucket_ms, ahead_ms)
        if settle_ms is not None:
            self._before_ms = np.where(arrivals.newest_ms == NEVER, NEVER, arrivals.newest_ms - settle_ms)
            return
        if arrivals.anew:
            self._delay = Delay(len(called), bucket_ms)
        self._delay.grow(len(called))
        self._delay.take(arrivals, span_ms[1], live)
        self._before_ms = self._delay.complete_before(span_ms[1])

    def waiting(self, key: PoolKey, start_ms: Ints, instances: Ints) -> Floats:
        """The mean number of an instance's requests that wait for a callee in each bucket, shape (n,); NaN where it is
        unknown or not complete yet. start_ms: of buckets without gaps. instances: present in each, and in buckets
        before them."""
        waiting = np.full(len(start_ms), np.nan)
        number = self._numbers.get(key.service) if key.side == "server" else None
        if number is None or len(start_ms) == 0:
            return waiting
        at_ms, busy_ns, _, _ = self._reading.own(number, int(start_ms[0]))
        known = (at_ms <= start_ms[-1]) & (at_ms < self._before_ms[number])
        if len(busy_ns) == 0 or not known.any():
            return waiting
        place = (at_ms[known] - start_ms[0]) // self._bucket_ms
        waiting[place] = busy_ns[:, known].sum(axis=0) / (self._bucket_ms * 1e6)
        return settled(waiting / instances[-len(start_ms) :], instances, self._bucket_ms)
