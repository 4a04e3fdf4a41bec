"""Reads the candidates that spans show, and the course of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from sluice.clickhouse.database import ArrayDatabase, Database
from sluice.clickhouse.native import Arrays, Column
from sluice.model.keys import PoolKey, Side
from sluice.pools.discovery.bound import CandidateCourse
from sluice.pools.discovery.candidate import Load
from sluice.pools.windows.query import keys

CANDIDATES_SQL = files(__package__).joinpath("candidates.sql").read_text(encoding="utf-8")
COURSES_SQL = files(__package__).joinpath("courses.sql").read_text(encoding="utf-8")
LASTS_S = 300
# Rows of a second are written some 10 s after their spans ended.
SETTLES_S = 10
# More are neither read nor counted.
MOST = 20_000


def loads(database: Database, now_ms: int, bucket_ms: int) -> list[Load]:
    """The candidates of the newest five minutes, the ones with most in flight first. Raises the database's errors."""
    columns = database.columns(CANDIDATES_SQL, {**_times(now_ms, 0), "bucket_ms": bucket_ms, "most": MOST})
    return list(_loads(zip(*columns, strict=True))) if columns else []


def _loads(rows: Iterator[tuple[str, str, str, float, int, float, float]]) -> Iterator[Load]:
    for service, side, peer, concurrency, instances, steadiest, top in rows:
        if service and side in get_args(Side) and (side == "client") == bool(peer):
            yield Load(PoolKey(service, cast(Side, side), peer), concurrency, instances, steadiest, top)


def courses(database: ArrayDatabase, pools: Sequence[PoolKey], now_ms: int, bucket_ms: int) -> list[CandidateCourse]:
    """The course of each of these over five minutes. Raises the database's errors."""
    times = _times(now_ms, SETTLES_S)
    table = keys([(number, key, 0) for number, key in enumerate(pools)])
    columns = database.arrays(COURSES_SQL, {**times, "bucket_ms": bucket_ms}, table)
    flat = [column for column in columns if not isinstance(column, Arrays)] or [np.zeros(0, dtype=np.int64)] * 7
    return [_course(flat, flat[0] == number, times["from_s"], bucket_ms) for number in range(len(pools))]


def _course(columns: Sequence[Column], rows: NDArray[np.bool_], from_s: int, bucket_ms: int) -> CandidateCourse:
    _, judges, source, at, busy_ns, top_ns, completions = (column[rows] for column in columns)
    own, second = judges == 0, at.astype(np.int64) - from_s
    sources, line = np.unique(source[own], return_inverse=True)
    level, top = np.zeros((2, len(sources), LASTS_S))
    level[line, second[own]] = busy_ns[own] / 1e9
    top[line, second[own]] = top_ns[own] / (bucket_ms * 1e6)
    done, callers = np.zeros((2, LASTS_S))
    np.add.at(done, second[own], completions[own].astype(np.float64))
    callers[second[~own]] = busy_ns[~own] / 1e9
    return CandidateCourse(level, top, done, callers, bucket_ms / 1_000)


def _times(now_ms: int, settles_s: int) -> dict[str, int]:
    to_s = now_ms // 1_000 - settles_s
    return {"from_s": to_s - LASTS_S, "to_s": to_s}
