"""Reads only what is new: one query a period and kind of pool, whose answer goes into the cells that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, get_args

import numpy as np

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table, TooLargeError
from sluice.clocks.offsets import Instance
from sluice.collect import query
from sluice.collect.cells import Cells
from sluice.collect.delay import Arrivals
from sluice.collect.latency import last_index_within
from sluice.collect.new_rows import NewRows, new_rows_of, own_rows_of
from sluice.collect.query import Key, Span
from sluice.collect.rows import Ints, Rows
from sluice.model.keys import PoolKey, Side

# Rows that a query is planned to gather: up to 320 MB in the database, of the 512 MiB that the reading user gets.
MAX_ROWS = 3_200_000
# Of pools that nobody judges: several such queries read no row twice, and this process holds the answer of one.
MAX_OWN_ROWS = 800_000
# A pool's rows in a bucket, at least: its own and its caller's.
FEWEST_SOURCES = 2
NEVER = -1
# In place of a pool's last histogram bucket.
UNJUDGED = -2
NO_CLOCKS: Mapping[Instance, int] = MappingProxyType({})


class Database(Protocol):
    """What is needed of a ClickHouse client. Gives a result's columns, and raises when the database cannot answer."""

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        """Of a query that reads `table`, which is sent along: whole numbers and arrays of them.

        TooLargeError when it is more than the user may ask for.
        """
        ...

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """Of any types."""
        ...


class Reading:
    """The rows of the window, kept up with the database by what was inserted since the last period.

    Inserts have numbers that grow in the order in which they become visible, so nothing that is late is missed, however
    late it is and however long its insert took. A pool is read whole when it is new, is to be judged from now on, its
    threshold has moved, or a clock is known to be off by other than it was (what is kept is counted by these); all are
    when the window, the buckets or the pools are others, or the clock was set back. Where the table's engine is one
    that does not number its inserts so, as on copies, everything is asked for each time, and goes into what is known:
    of a row the largest version stays, whichever copy had it, and one that the copy of now does not have yet is not
    forgotten.

    What a reading brought is told apart from what was known. A reading that fails is made good for by the next, whose
    arrivals count from the last one that did not.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: list[PoolKey] = []
        self._bucket_ms = 0
        self._cells = Cells(0)
        self._until = 0
        self._newest = NEVER
        self._numbered = False
        self._seen: Ints = np.zeros(0, dtype=np.int64)
        self._place: Ints = self._seen
        self._last_good: Ints = np.zeros(0, dtype=np.int64)
        self._anew = True
        self._arrived: list[tuple[Ints, Ints, Ints]] = []
        self._ahead_ms: dict[Instance, int] = {}

    @property
    def cells(self) -> Cells:
        return self._cells

    def read(
        self,
        keys: Sequence[PoolKey],
        thresholds_ns: Sequence[int | None],
        from_ms: int,
        to_ms: int,
        bucket_ms: int,
        ahead_ms: Mapping[Instance, int] = NO_CLOCKS,
    ) -> Arrivals:
        """Takes up the buckets that start in [from_ms, to_ms). Pools are numbered in the order of `keys`.

        ahead_ms: of instances whose clocks are ahead; below 0, behind. Their buckets count by a clock that is right, to
        a whole bucket; where that changes, the pools that have to do with such a service are read whole.

        thresholds_ns: by which each is judged, None where nobody is to judge it: of such a pool only its own rows are
        read, which is a third of the work.

        Raises what the database does; the next call then makes good for it.
        """
        first, until = -(-from_ms // bucket_ms), -(-to_ms // bucket_ms)
        width = -(-(to_ms - from_ms) // bucket_ms) + 1
        same = (list(keys), bucket_ms, width) == (self._keys, self._bucket_ms, self._cells.width)
        same = same and until >= self._until
        if not same:
            self._begin(list(keys), bucket_ms, width)
        self._advance(first)
        indices = [UNJUDGED if threshold is None else last_index_within(threshold) for threshold in thresholds_ns]
        last_good = np.array(indices, dtype=np.int64)
        self._judge_by(last_good)
        self._set_clocks(ahead_ms)
        known = np.flatnonzero(self._seen > NEVER)
        if len(known):
            seen = int(self._seen[known].min()) if self._numbered else NEVER
            span = Span(first, until, bucket_ms, self._until, seen, self._ahead_ms)
            buckets = until - self._until if self._numbered else width
            new = sum(self._ask(share, span, self._cells) for share in self._shares(known, buckets))
            if self._numbered and new == 0 and self._began_anew(span):
                self._begin(list(keys), bucket_ms, width)
                self._advance(first)
                self._judge_by(last_good)
        self._until = until
        for share in self._shares(np.flatnonzero(self._seen == NEVER), width):
            self._ask(share, Span(first, until, bucket_ms, until, ahead_ms=self._ahead_ms), None)
        return self._arrivals()

    def rows(self, pool: int) -> Rows:
        """Of one pool, as of the last reading."""
        return self._cells.rows(pool, self._until, self._bucket_ms)

    def own(self, pool: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Of one pool's own rows, as of the last reading: starts of buckets in ms, shape (n,); busy_ns, completions and
        errors of each source, shape (k, n)."""
        at, busy_ns, completions, errors = self._cells.own(pool, self._until)
        return at * self._bucket_ms, busy_ns, completions, errors

    def own_instance(self, pool: int, instance: str) -> tuple[Ints, Ints, Ints, Ints] | None:
        """As `own`, of one instance, each of shape (n,); None when nothing is known of it."""
        found = self._cells.own_source(pool, query.source_of(instance), self._until)
        return found and (found[0] * self._bucket_ms, *found[1:])

    def _begin(self, keys: list[PoolKey], bucket_ms: int, width: int) -> None:
        # Asked before anything is changed: if the database fails here, the next call begins again.
        numbered = self._database.columns(query.ENGINE_SQL, {}) == [[query.NUMBERED]]
        self._anew, self._until, self._arrived = True, 0, []
        self._keys, self._bucket_ms, self._cells = keys, bucket_ms, Cells(width, len(keys))
        self._place = _places(keys)
        self._newest, self._numbered = NEVER, numbered
        self._seen = np.full(len(keys), NEVER)
        self._last_good = np.full(len(keys), NEVER)

    def _advance(self, first: int) -> None:
        self._cells.advance(first)

    def _arrivals(self) -> Arrivals:
        empty: Ints = np.zeros(0, dtype=np.int64)
        pool, at, busy_ns = (
            np.concatenate([empty, *parts]) for parts in zip(*self._arrived, (empty, empty, empty), strict=True)
        )
        newest = self._cells.newest(len(self._keys))
        newest_ms = np.where(newest >= 0, newest * self._bucket_ms, NEVER)
        found = Arrivals(pool, at * self._bucket_ms, busy_ns, newest_ms, self._anew)
        self._arrived, self._anew = [], False
        return found

    def _judge_by(self, last_good: Ints) -> None:
        """Forgets the pools whose rows were counted by another threshold, or were not."""
        moved = (last_good != self._last_good) & (self._seen > NEVER)
        unjudged = last_good == UNJUDGED
        if moved.any():
            self._cells.forget(np.flatnonzero(moved & ~unjudged).tolist())
            self._cells.forget_judges(np.flatnonzero(moved & unjudged).tolist())
        self._seen[moved & ~unjudged] = NEVER
        self._last_good = last_good

    def _set_clocks(self, ahead_ms: Mapping[Instance, int]) -> None:
        """Forgets what was counted by other clocks: of pools of these services, and of those that their calls judge,
        which may be any server pool."""
        whole = {each: round(ms / self._bucket_ms) * self._bucket_ms for each, ms in ahead_ms.items()}
        now = {each: ms for each, ms in whole.items() if ms}
        changed = {each.service for each, _ in now.items() ^ self._ahead_ms.items()}
        self._ahead_ms = now
        if not changed:
            return
        judged = self._last_good != UNJUDGED
        others = [
            pool
            for pool, key in enumerate(self._keys)
            if key.service in changed or (key.side == "server" and judged[pool])
        ]
        self._cells.forget(others)
        self._seen[others] = NEVER

    def _ask(self, pools: Ints, span: Span, known: Cells | None) -> int:
        """How many rows are new; in halves where all are too many for the database. known: what arrivals add to; None
        when there is nothing to compare with."""
        requests = [Key(pool, self._keys[pool], int(self._last_good[pool])) for pool in pools.tolist()]
        try:
            new = self._new(requests, span)
        except TooLargeError:
            if len(pools) == 1:
                raise
            half = len(pools) // 2
            return self._ask(pools[:half], span, known) + self._ask(pools[half:], span, known)
        before = known.busy_ns(new) if known is not None else None
        self._cells.put(new)
        if before is not None:
            self._arrived.append(self._added(new, before))
        # What an earlier query saw, this one saw too: of a pool without rows this is how much is known to be nothing.
        self._newest = max(self._newest, new.newest)
        self._seen[pools] = self._newest
        return len(new)

    def _new(self, requests: list[Key], span: Span) -> NewRows:
        """Of pools that are all judged, or of one side and none."""
        if requests[0].last_good != UNJUDGED:
            columns = self._database.arrays(query.SQL, span.parameters(len(requests)), query.keys(requests))
            return new_rows_of(columns, span.first)
        parameters = span.own_parameters([each.key for each in requests])
        return own_rows_of(self._database.arrays(query.OWN_SQL, parameters, query.own_keys(requests)), span.first)

    def _added(self, new: NewRows, before: Ints) -> tuple[Ints, Ints, Ints]:
        """Pool, bucket, and busy time that was not known, of the pools' own rows that have more than before."""
        added = self._cells.busy_ns(new) - before
        more = (added > 0) & (np.repeat(new.judges, new.counts) == 0)
        return np.repeat(new.pool, new.counts)[more], new.at[more], added[more]

    def _began_anew(self, span: Span) -> bool:
        """Whether numbers are smaller than they were: of a table that was made anew. Asked only when nothing is new."""
        newest = self._database.columns(query.NEWEST_SQL, span.parameters(0))
        return int(newest[0][0]) < span.seen

    def _shares(self, pools: Ints, buckets: int) -> list[Ints]:
        """The pools in as few parts as have no more rows than is planned, if each of so many buckets has one: those
        that are judged, and the others by side, each part a stretch of the table."""
        width = max(1, min(buckets, self._cells.width))
        sources = len(self._cells) // max(1, int((self._seen > NEVER).sum()))
        unjudged = self._last_good[pools] == UNJUDGED
        found = _parts(pools[~unjudged], MAX_ROWS // (width * max(FEWEST_SOURCES, sources)))
        for side in get_args(Side):
            own = pools[unjudged & np.array([self._keys[pool].side == side for pool in pools.tolist()], dtype=bool)]
            found += _parts(own[np.argsort(self._place[own])], MAX_OWN_ROWS // (width * max(1, sources)))
        return found


def _places(keys: Sequence[PoolKey]) -> Ints:
    """Of each pool among all, by service."""
    places: Ints = np.zeros(len(keys), dtype=np.int64)
    places[sorted(range(len(keys)), key=lambda pool: keys[pool].service)] = np.arange(len(keys))
    return places


def _parts(pools: Ints, most: int) -> list[Ints]:
    most = max(1, most)
    return [pools[begin : begin + most] for begin in range(0, len(pools), most)]
