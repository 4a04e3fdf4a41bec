"""The answer of a period's query, as numpy columns: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice.clickhouse.native import Arrays, Column, NativeError
from sluice.pools.windows.rows import Ints


@dataclass(frozen=True)
class NewRows:
    """New versions of rows: of each source, shape (s,), and of each row, shape (r,), those of a source together.

    pool, judges, source  the source: number of the pool; 0 its own rows, 1 its judges'; a hash of the instance
    counts  rows of each source, at least 1; their sum is r
    newest  number of the newest insert among them, -1 without any
    at      start of the row's bucket divided by its length, since 1970; each once per source
    errors  the completions that failed
    good    completions within the threshold
    """

    pool: Ints
    judges: Ints
    source: NDArray[np.uint64]
    counts: Ints
    newest: int
    at: Ints
    busy_ns: Ints
    completions: NDArray[np.uint32]
    errors: NDArray[np.uint32]
    good: NDArray[np.uint32]
    version: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.at)


def own_rows_of(columns: Sequence[Column | Arrays], first: int) -> NewRows:
    """As `new_rows_of`, for the query without judges. NativeError for other columns."""
    if not columns:
        return new_rows_of(columns, first)
    if len(columns) != 8:
        raise NativeError(f"{len(columns)} columns do not match the query")
    pool, source, newest, at, busy_ns, completions, errors, version = columns
    nothing = replace(completions, values=np.zeros_like(completions.values)) if isinstance(completions, Arrays) else at
    judges = np.zeros_like(pool) if not isinstance(pool, Arrays) else pool
    return new_rows_of([pool, judges, source, newest, at, busy_ns, completions, errors, nothing, version], first)


def new_rows_of(columns: Sequence[Column | Arrays], first: int) -> NewRows:
    """Rows from the query's columns, in which buckets count from `first`. NativeError for other columns."""
    flat = [column for column in columns if not isinstance(column, Arrays)]
    arrays = [column for column in columns if isinstance(column, Arrays)]
    if not columns:
        flat, arrays = [np.zeros(0, dtype=np.int64)] * 4, [Arrays(*[np.zeros(0, dtype=np.int64)] * 2)] * 6
    if len(flat) != 4 or len(arrays) != 6 or any(np.any(one.lengths != arrays[0].lengths) for one in arrays):
        raise NativeError(f"{len(flat)} columns of numbers and {len(arrays)} of arrays do not match the query")
    pool, judges, source, newest = flat
    at, busy_ns, completions, errors, good, version = (one.values for one in arrays)
    return NewRows(
        pool=pool.astype(np.int64),
        judges=judges.astype(np.int64),
        source=source.astype(np.uint64),
        counts=arrays[0].lengths,
        newest=int(newest.astype(np.int64).max(initial=-1)),
        at=at.astype(np.int64) + first,
        busy_ns=busy_ns.astype(np.int64),
        completions=completions.astype(np.uint32),
        errors=errors.astype(np.uint32),
        good=good.astype(np.uint32),
        version=version.astype(np.uint64),
    )
