"""Reads new rows only: a query or two per period and kind of pool, whose answer goes into the bucket ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from sluice.clickhouse.database import ArrayDatabase
from sluice.clickhouse.table import TooLargeError
from sluice.model.keys import PoolKey, Side
from sluice.pools.clocks.offsets import Instance
from sluice.pools.windows import query
from sluice.pools.windows.bucket_ring import BucketRing
from sluice.pools.windows.delay import Arrivals
from sluice.pools.windows.latency import last_index_within
from sluice.pools.windows.new_rows import NewRows
from sluice.pools.windows.query import NEVER, WindowQuery
from sluice.pools.windows.rows import Ints, WindowRows

# Planned rows of a query: up to 320 MB in the database, of the 512 MiB of the reading user.
MAX_ROWS = 3_200_000
# The same for pools without judges. Several such queries read no row twice, and this process holds the answer of one.
MAX_OWN_ROWS = 800_000
# Up to so many pools, planning a query takes the database longer than its rows: 14 ms for 7 pools as for one. Whether
# anything is new takes it 4 ms. So all sides are in one query, and none is made where nothing is new.
FEW = 500
# The fewest rows of a pool in a bucket: its own and its caller's.
FEWEST_SOURCES = 2
# The value for a pool without a threshold, in place of its last histogram bucket.
UNJUDGED = -2
SIDES: tuple[Side, ...] = get_args(Side)
NO_CLOCKS: Mapping[Instance, int] = MappingProxyType({})


class WindowReader:
    """The rows of the window, kept current with the rows inserted since the last period.

    Inserts have numbers that grow in the order in which they become visible, so nothing is missed, however late it is
    and however long its insert took.

    - A pool is read whole when it is new, gets its first threshold or another one, or the offset of a clock changed,
      since the kept rows are counted by these.
    - All pools are read whole when the window, the buckets or the pools change, or the clock was set back. Pools
      that come behind the present ones are read alone.
    - A table whose engine does not number its inserts so, as on replicas, is read whole each time, and merged into the
      kept rows. The largest version of a row stays, from whichever replica. A row that the present replica lacks is
      kept.

    New data is kept apart from known data. After a reading that fails the next one catches up: its arrivals count from
    the last one that succeeded.
    """

    def __init__(self, database: ArrayDatabase, callees: bool = False) -> None:
        """callees: a pool is all that a service calls, PoolKey(service, "client", "")."""
        self._database, self._callees = database, callees
        self._keys: list[PoolKey] = []
        self._bucket_ms = 0
        self._ring = BucketRing(0)
        self._until = 0
        self._newest = NEVER
        self._numbered = False
        self._inserts: Ints = np.zeros(0, dtype=np.int64)
        self._place: Ints = self._inserts
        self._last_good: Ints = np.zeros(0, dtype=np.int64)
        self._anew = True
        self._arrived: list[tuple[Ints, Ints, Ints]] = []
        self._ahead_ms: dict[Instance, int] = {}

    @property
    def ring(self) -> BucketRing:
        return self._ring

    def read(
        self,
        keys: Sequence[PoolKey],
        thresholds_ns: Sequence[int | None],
        from_ms: int,
        to_ms: int,
        bucket_ms: int,
        ahead_ms: Mapping[Instance, int] = NO_CLOCKS,
    ) -> Arrivals:
        """Reads the buckets that start in [from_ms, to_ms). Pools are numbered in the order of `keys`.

        ahead_ms: offsets of instances' clocks, above 0 ahead and below 0 behind. Their buckets count by a correct
        clock, to a whole bucket. Where an offset changes, the pools that involve the service are read whole.

        thresholds_ns: the threshold of each pool, None for a pool without judges: only its own rows are read, which is
        a third of the work.

        It raises the database's errors; the next call then catches up.
        """
        first, until = -(-from_ms // bucket_ms), -(-to_ms // bucket_ms)
        width = -(-(to_ms - from_ms) // bucket_ms) + 1
        same = (bucket_ms, width) == (self._bucket_ms, self._ring.width) and until >= self._until
        if not same or not self._keys or list(keys[: len(self._keys)]) != self._keys:
            self._begin(list(keys), bucket_ms, width)
        elif len(keys) > len(self._keys):
            self._append(list(keys))
        self._ring.advance(first)
        indices = [UNJUDGED if threshold is None else last_index_within(threshold) for threshold in thresholds_ns]
        last_good = np.array(indices, dtype=np.int64)
        self._judge_by(last_good)
        self._set_clocks(ahead_ms)
        period_query = WindowQuery(first, until, bucket_ms, self._ahead_ms, self._callees, len(keys))
        known = np.flatnonzero(self._inserts > NEVER)
        insert = int(self._inserts[known].min()) if len(known) and self._numbered else NEVER
        newest = self._read_known(known, period_query, insert)
        if newest < insert:
            # Smaller numbers than before are of a table that was created again.
            self._begin(list(keys), bucket_ms, width)
            self._ring.advance(first)
            self._judge_by(last_good)
        self._until = until
        if newest != 0:
            for share in self._shares(np.flatnonzero(self._inserts == NEVER), width):
                self._ask(share, period_query, until, NEVER, known=False)
        return self._arrivals()

    def rows(self, pool: int, from_ms: int = 0) -> WindowRows:
        """The rows of one pool in buckets that start at `from_ms` or later, as of the last reading."""
        return self._ring.rows(pool, self._until, self._bucket_ms, -(-from_ms // self._bucket_ms))

    def called(self, pool: int) -> bool:
        """Whether callers' spans judge the pool: some of them ended in the buckets that are kept."""
        return self._ring.called(pool)

    def own(self, pool: int, from_ms: int = 0) -> tuple[Ints, Ints, Ints, Ints]:
        """One pool's own rows, as of the last reading: starts of buckets in ms from `from_ms` on, shape (n,); busy_ns,
        completions and errors of each source, shape (k, n)."""
        at, busy_ns, completions, errors = self._ring.own(pool, self._until, -(-from_ms // self._bucket_ms))
        return at * self._bucket_ms, busy_ns, completions, errors

    def own_instance(self, pool: int, instance: str) -> tuple[Ints, Ints, Ints, Ints] | None:
        """As `own`, of one instance, each of shape (n,); None for an unknown instance."""
        row = self._ring.own_source(pool, query.source_of(instance), self._until)
        return row and (row[0] * self._bucket_ms, *row[1:])

    def _begin(self, keys: list[PoolKey], bucket_ms: int, width: int) -> None:
        # This query comes before any change: if the database fails here, the next call begins again.
        numbered = self._database.columns(query.ENGINE_SQL, {}) == [[query.NUMBERED]]
        self._anew, self._until, self._arrived = True, 0, []
        self._keys, self._bucket_ms, self._ring = keys, bucket_ms, BucketRing(width, len(keys))
        self._place = _places(keys)
        self._newest, self._numbered = NEVER, numbered
        self._inserts = np.full(len(keys), NEVER)
        self._last_good = np.full(len(keys), NEVER)

    def _append(self, keys: list[PoolKey]) -> None:
        """Takes further pools behind the present ones; they are new, and the others stay."""
        new = np.full(len(keys) - len(self._keys), NEVER)
        self._keys, self._place = keys, _places(keys)
        self._inserts, self._last_good = np.concatenate([self._inserts, new]), np.concatenate([self._last_good, new])

    def _arrivals(self) -> Arrivals:
        empty: Ints = np.zeros(0, dtype=np.int64)
        pool, at, busy_ns = (
            np.concatenate([empty, *parts]) for parts in zip(*self._arrived, (empty, empty, empty), strict=True)
        )
        newest = self._ring.newest(len(self._keys))
        newest_ms = np.where(newest >= 0, newest * self._bucket_ms, NEVER)
        arrivals = Arrivals(pool, at * self._bucket_ms, busy_ns, newest_ms, self._anew)
        self._arrived, self._anew = [], False
        return arrivals

    def _judge_by(self, last_good: Ints) -> None:
        """Forgets the pools whose rows were counted by another threshold, or by none."""
        moved = (last_good != self._last_good) & (self._inserts > NEVER)
        unjudged = last_good == UNJUDGED
        if moved.any():
            self._ring.forget(np.flatnonzero(moved & ~unjudged).tolist())
            self._ring.forget_judges(np.flatnonzero(moved & unjudged).tolist())
        self._inserts[moved & ~unjudged] = NEVER
        self._last_good = last_good

    def _set_clocks(self, ahead_ms: Mapping[Instance, int]) -> None:
        """Forgets rows that were counted by other offsets: of pools of these services, and of those that their calls
        judge, which may be any server pool."""
        whole = {instance: round(ms / self._bucket_ms) * self._bucket_ms for instance, ms in ahead_ms.items()}
        now = {instance: ms for instance, ms in whole.items() if ms}
        changed = {instance.service for instance, _ in now.items() ^ self._ahead_ms.items()}
        self._ahead_ms = now
        if not changed:
            return
        judged = self._last_good != UNJUDGED
        others = [
            pool
            for pool, key in enumerate(self._keys)
            if key.service in changed or (key.side == "server" and judged[pool])
        ]
        self._ring.forget(others)
        self._inserts[others] = NEVER

    def _read_known(self, known: Ints, period_query: WindowQuery, insert: int) -> int:
        """Reads what is new of these pools, whose rows are known up to `insert`. Returns the number of the newest
        insert in the window, 0 without any; `insert` where that was not read: with many pools, while rows come."""
        few = self._numbered and len(self._keys) <= FEW
        newest, new = period_query.news(self._database, self._until, insert) if few else (insert, 1)
        # Queries from here on cover these inserts, of whichever pool.
        self._newest = max(self._newest, newest)
        if len(known) and new:
            buckets = period_query.until - self._until if self._numbered else self._ring.width
            new = sum(
                self._ask(share, period_query, self._until, insert, known=True)
                for share in self._shares(known, buckets)
            )
        if len(known) and self._numbered and not few and not new:
            newest, _ = period_query.news(self._database, self._until, insert)
        return newest

    def _ask(self, pools: Ints, period_query: WindowQuery, until: int, insert: int, known: bool) -> int:
        """Reads these pools and returns the number of new rows; in halves where all are too many for the database.
        until, insert: bucket and insert up to which the rows are known. known: whether new rows add to known ones."""
        requests = [(pool, self._keys[pool], int(self._last_good[pool])) for pool in pools.tolist()]
        judged = requests[0][2] != UNJUDGED
        try:
            new = period_query.new_rows(self._database, requests, judged, until, insert)
        except TooLargeError:
            if len(pools) == 1:
                raise
            half = len(pools) // 2
            return sum(self._ask(part, period_query, until, insert, known) for part in (pools[:half], pools[half:]))
        known_ns = self._ring.busy_ns(new) if known else None
        self._ring.put(new)
        if known_ns is not None:
            self._arrived.append(self._added(new, known_ns))
        # This query covers all inserts of earlier ones, so a pool without rows is known to be empty up to here.
        self._newest = max(self._newest, new.newest)
        self._inserts[pools] = self._newest
        return len(new)

    def _added(self, new: NewRows, known_ns: Ints) -> tuple[Ints, Ints, Ints]:
        """Pool, bucket, and new busy time, of the pools' own rows that have more than before."""
        added = self._ring.busy_ns(new) - known_ns
        more = (added > 0) & (np.repeat(new.judges, new.counts) == 0)
        return np.repeat(new.pool, new.counts)[more], new.at[more], added[more]

    def _shares(self, pools: Ints, buckets: int) -> list[Ints]:
        """Divides the pools into as few parts as stay within the planned rows, if each of so many buckets has one.
        Pools with thresholds form parts, and the others, where they are many, by side: each part is a stretch of the
        table, but for the callers of pools with thresholds."""
        width = max(1, min(buckets, self._ring.width))
        sources = len(self._ring) // max(1, int((self._inserts > NEVER).sum()))
        unjudged = self._last_good[pools] == UNJUDGED
        judged = pools[~unjudged]
        shares = _parts(judged[np.argsort(self._place[judged])], MAX_ROWS // (width * max(FEWEST_SOURCES, sources)))
        own_of = [unjudged] if len(self._keys) <= FEW else [unjudged & self._of_side(pools, side) for side in SIDES]
        for own in (pools[of] for of in own_of):
            shares += _parts(own[np.argsort(self._place[own])], MAX_OWN_ROWS // (width * max(1, sources)))
        return shares

    def _of_side(self, pools: Ints, side: Side) -> NDArray[np.bool_]:
        return np.array([self._keys[pool].side == side for pool in pools.tolist()], dtype=bool)


def _places(keys: Sequence[PoolKey]) -> Ints:
    """The place of each pool among all, by service."""
    places: Ints = np.zeros(len(keys), dtype=np.int64)
    places[sorted(range(len(keys)), key=lambda pool: keys[pool].service)] = np.arange(len(keys))
    return places


def _parts(pools: Ints, most: int) -> list[Ints]:
    most = max(1, most)
    return [pools[begin : begin + most] for begin in range(0, len(pools), most)]
