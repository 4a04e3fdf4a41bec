"""The bucket ring: the newest version of every row of the window, kept from period to period. Each
reading adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.pools.windows.new_rows import NewRows
from sluice.pools.windows.rows import Ints, WindowRows

Numbers = NDArray[np.int64] | NDArray[np.uint32]
Source = tuple[int, int, int]
"""Number of the pool; 0 for its own rows, 1 for its judges' rows; hash of the instance."""

# Sources that a table begins with.
FEWEST = 64
# The largest version that a cell holds.
MOST = 2**32 - 1


class BucketRing:
    """A cell for each source and each of the last `width` buckets. A cell takes 24 bytes with or without a row, and 16
    while no completions failed or were judged: pages of zeros that were never written take no memory.

    Bucket `at` (its start divided by its length, since 1970) is in column `at % width`. A cell of version 0 has no row,
    and `rows` returns none for a bucket in which no source of the pool has anything.
    """

    def __init__(self, width: int, room: int = 0) -> None:
        """room: the number of sources to allocate for; memory is used as they come."""
        self.width = width
        self._first = 0
        self._lines: dict[Source, int] = {}
        self._of_pool: dict[int, tuple[list[int], list[int]]] = {}
        self._free: list[int] = []
        self._last_at: Ints = np.zeros(0, dtype=np.int64)
        self._newest: Ints = np.zeros(0, dtype=np.int64)  # newest bucket with data of each source; -1 without any
        self._own_of: Ints = np.zeros(0, dtype=np.int64)  # the pool of a source of own rows, else -1
        self._busy_ns = np.zeros((0, width), dtype=np.int64)
        self._completions = np.zeros((0, width), dtype=np.uint32)
        self._errors = np.zeros((0, width), dtype=np.uint32)
        self._good = np.zeros((0, width), dtype=np.uint32)
        self._version = np.zeros((0, width), dtype=np.uint32)
        self._judged = self._failed = False
        self._make_room(room)

    def __len__(self) -> int:
        """Number of sources."""
        return len(self._lines)

    @property
    def nbytes(self) -> int:
        written = (self._busy_ns, self._completions, self._version, *((self._good,) if self._judged else ()))
        written += (self._errors,) if self._failed else ()
        return sum(column.nbytes for column in written)

    def advance(self, first: int) -> None:
        """Forgets the buckets before `first`, and the sources that have had no row since."""
        gone = min(max(0, first - self._first), self.width)
        self._clear(slice(None), np.arange(first - gone, first) % self.width)
        self._first = first
        self._drop([source for source, line in self._lines.items() if self._last_at[line] < first])

    def forget(self, pools: Iterable[int]) -> None:
        """Forgets all rows of these pools."""
        given = set(pools)
        self._drop([source for source in self._lines if source[0] in given])

    def forget_judges(self, pools: Iterable[int]) -> None:
        """Forgets the rows of these pools' judges."""
        given = set(pools)
        self._drop([source for source in self._lines if source[0] in given and source[1]])

    def put(self, new: NewRows) -> None:
        """Takes over each row that is not older than the present one. Buckets lie in the `width` from the first."""
        if len(new) == 0:
            return
        sources = list(zip(new.pool.tolist(), new.judges.tolist(), new.source.tolist(), strict=True))
        self._make_room(sum(source not in self._lines for source in sources))
        lines = np.array([self._line(source) for source in sources], dtype=np.int64)
        ends = np.cumsum(new.counts)
        self._last_at[lines] = np.maximum(self._last_at[lines], np.maximum.reduceat(new.at, ends - new.counts))
        cell = np.repeat(lines * self.width, new.counts) + new.at % self.width
        # A version counts contributions to 100 ms of an instance. Beyond the largest one, the last row counts.
        version = np.minimum(new.version, MOST).astype(np.uint32)
        newer = version >= self._version.ravel()[cell]
        keep: slice | NDArray[np.bool_] = slice(None) if newer.all() else newer
        cell = cell[keep]
        self._busy_ns.ravel()[cell] = new.busy_ns[keep]
        self._completions.ravel()[cell] = new.completions[keep]
        self._failed |= bool(new.errors.any())
        if self._failed:
            self._errors.ravel()[cell] = new.errors[keep]
        self._judged |= bool(new.good.any())
        if self._judged:
            self._good.ravel()[cell] = new.good[keep]
        self._version.ravel()[cell] = version[keep]
        self._find_newest(lines, new)

    def busy_ns(self, new: NewRows) -> Ints:
        """Known busy time of each of these rows, shape (len(new),); 0 for unknown rows."""
        sources = zip(new.pool.tolist(), new.judges.tolist(), new.source.tolist(), strict=True)
        lines = np.array([self._lines.get(source, -1) for source in sources], dtype=np.int64)
        line = np.repeat(lines, new.counts)
        busy_ns: Ints = np.zeros(len(new), dtype=np.int64)
        known = line >= 0
        busy_ns[known] = self._busy_ns[line[known], new.at[known] % self.width]
        return busy_ns

    def newest(self, pools: int) -> Ints:
        """The newest bucket in which each of the pools 0..pools-1 has data of its own, -1 without any."""
        newest: Ints = np.full(pools, -1)
        own = (self._own_of >= 0) & (self._newest >= self._first)
        np.maximum.at(newest, self._own_of[own], self._newest[own])
        return newest

    def own(self, pool: int, until: int, first: int = 0) -> tuple[Ints, Ints, Ints, Ints]:
        """One pool's own rows: the buckets from `first` on, and before `until`, shape (n,), and busy_ns, completions
        and errors of each of its k sources, shape (k, n)."""
        at = np.arange(max(first, self._first), until)
        lines, columns = self._of_pool.get(pool, ((), ()))[0], at % self.width
        busy_ns, done, errors = (_taken(column, lines, columns) for column in self._counted)
        return at, busy_ns, done, errors

    def own_source(self, pool: int, source: int, until: int) -> tuple[Ints, Ints, Ints, Ints] | None:
        """As `own`, of one source, each of shape (n,); None for an unknown source."""
        line = self._lines.get((pool, 0, source))
        if line is None:
            return None
        at = np.arange(self._first, until)
        columns = at % self.width
        busy_ns, done, errors = (_taken(column, [line], columns)[0] for column in self._counted)
        return at, busy_ns, done, errors

    @property
    def _counted(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self._busy_ns, self._completions, self._errors

    def _find_newest(self, lines: Ints, new: NewRows) -> None:
        """Updates the newest bucket of those lines, after the new rows of each were put."""
        columns = np.repeat(lines, new.counts), new.at % self.width
        data = (self._busy_ns[columns] > 0) | (self._completions[columns] > 0)
        emptied = ~data & (new.at == np.repeat(self._newest[lines], new.counts))
        at = np.arange(self._first, self._first + self.width)
        for line in np.unique(np.repeat(lines, new.counts)[emptied]):
            columns = line, at % self.width
            left = at[(self._busy_ns[columns] > 0) | (self._completions[columns] > 0)]
            self._newest[line] = left[-1] if len(left) else -1
        newest = np.maximum.reduceat(np.where(data, new.at, -1), np.cumsum(new.counts) - new.counts)
        self._newest[lines] = np.maximum(self._newest[lines], newest)

    def called(self, pool: int) -> bool:
        """Whether the rows of the pool's judges have a completion, in any bucket."""
        return any(self._completions[line].any() for line in self._of_pool.get(pool, ((), ()))[1])

    def rows(self, pool: int, until: int, bucket_ms: int, first: int = 0) -> WindowRows:
        """Rows of one pool, from bucket `first` on and before `until`, in order of time: sums over its sources, as in
        `WindowRows`."""
        own, judges = self._of_pool.get(pool, ((), ()))
        at = np.arange(max(first, self._first), until)
        columns = at % self.width
        busy = _summed(self._busy_ns, own, columns)
        done, good, judged, judged_good = (
            _summed(column, lines, columns) for lines in (own, judges) for column in (self._completions, self._good)
        )
        there = (busy > 0) | (done > 0) | (judged > 0)
        instances = (busy > 0).astype(np.int64)
        if len(own) > 1:
            instances = (self._busy_ns[own].take(columns, axis=1) > 0).sum(axis=0)
        judges_busy = _summed(self._busy_ns, judges, columns)
        fields = (at * bucket_ms, busy, done, good, instances, judged, judged_good, judges_busy)
        return WindowRows(*fields) if there.all() else WindowRows(*(column[there] for column in fields))

    def _line(self, source: Source) -> int:
        line = self._lines.get(source)
        if line is None:
            line = self._lines[source] = self._free.pop()
            self._last_at[line] = self._first
            self._newest[line], self._own_of[line] = -1, -1 if source[1] else source[0]
            self._of_pool.setdefault(source[0], ([], []))[source[1]].append(line)
        return line

    def _make_room(self, sources: int) -> None:
        """Makes room for `sources` new ones; a table that must grow does so by a quarter at least."""
        lines = len(self._last_at)
        if sources <= len(self._free):
            return
        after = max(FEWEST, lines + lines // 4, lines + sources)
        self._last_at, self._newest, self._own_of = (
            np.concatenate([column, np.full(after - lines, -1)])
            for column in (self._last_at, self._newest, self._own_of)
        )
        self._busy_ns, self._completions, self._errors, self._good, self._version = (
            _longer(column, after)
            for column in (self._busy_ns, self._completions, self._errors, self._good, self._version)
        )
        self._free += range(after - 1, lines - 1, -1)

    def _drop(self, sources: Sequence[Source]) -> None:
        for source in sources:
            line = self._lines.pop(source)
            self._of_pool[source[0]][source[1]].remove(line)
            self._free.append(line)
            self._own_of[line] = -1
            self._clear(line, slice(None))

    def _clear(self, lines: int | slice, columns: Ints | slice) -> None:
        self._busy_ns[lines, columns] = 0
        self._completions[lines, columns] = 0
        if self._failed:
            self._errors[lines, columns] = 0
        if self._judged:
            self._good[lines, columns] = 0
        self._version[lines, columns] = 0


def _longer(column: NDArray[Any], lines: int) -> NDArray[Any]:
    """The column with rows of zeros appended, `lines` rows in all."""
    longer: NDArray[Any] = np.zeros((lines, column.shape[1]), dtype=column.dtype)
    if column.any():
        longer[: len(column)] = column
    return longer


def _taken(column: Numbers, lines: Sequence[int], columns: Ints) -> Ints:
    """Values of those lines, shape (len(lines), len(columns))."""
    taken = column[lines[0]].take(columns)[None] if len(lines) == 1 else column[list(lines)].take(columns, axis=1)
    whole: Ints = taken.astype(np.int64, copy=False)
    return whole


def _summed(column: Numbers, lines: Sequence[int], columns: Ints) -> Ints:
    """Sums over those lines, shape (len(columns),)."""
    if len(lines) == 1:  # most have one, and a sum over one costs more than all the rest
        one: Ints = column[lines[0]].take(columns).astype(np.int64, copy=False)
        return one
    sums: Ints = column[list(lines)].take(columns, axis=1).sum(axis=0, dtype=np.int64)
    return sums
