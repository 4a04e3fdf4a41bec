"""Response times of pools per minute, and how many requests were in flight: one query for all."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.model.keys import PoolKey
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.derived import LEAST_COMPLETIONS
from sluice.pools.section import PoolsSection
from sluice.pools.windows import query

SQL = files(__package__).joinpath("minutes.sql").read_text(encoding="utf-8")
MINUTE_S = 60
# Rows of a minute are written from those of 10 s every 20 s, those from rows of 1 s every 10 s.
SETTLES_S = 60


class Minutes(NamedTuple):
    """The minutes of a pool with enough completions, shapes (n,). start_s: Unix time. in_flight: in its busiest
    instance, as a mean over the minute."""

    start_s: Ints
    in_flight: Floats
    p95_ms: Floats
    p99_ms: Floats


def until_s(now_ms: int) -> int:
    """The end of the newest complete minute, Unix time."""
    return (now_ms // 1000 - SETTLES_S) // MINUTE_S * MINUTE_S


def parameters(config: PoolsSection, from_s: int, to_s: int) -> dict[str, object]:
    return {"from_s": from_s, "to_s": to_s, "bucket_ms": config.stored_ms, "least": LEAST_COMPLETIONS}


def keys(config: PoolsSection) -> Table:
    """The pools with a derived threshold, by their place in the configuration."""
    return query.keys([(number, pool.key, 0) for number, pool in enumerate(config.pools) if config.is_derived(pool)])


def minutes(columns: list[Column | Arrays], config: PoolsSection) -> dict[PoolKey, Minutes]:
    """The minutes of each pool that has any, from the query's columns."""
    numbers, start_s, held_ns, p95_ns, p99_ns = (column for column in columns if not isinstance(column, Arrays))
    whole = (start_s, held_ns / (1e9 * MINUTE_S), p95_ns / 1e6, p99_ns / 1e6)
    pools, first = np.unique(numbers, return_index=True)
    parts = zip(*(np.split(column, first[1:]) for column in whole), strict=True)
    return {config.pools[pool].key: Minutes(*part) for pool, part in zip(pools.tolist(), parts, strict=True)}
