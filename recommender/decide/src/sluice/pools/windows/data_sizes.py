"""The amount of data that a span of a pool moves, over the newest minute: one query for all pools whose size is learnt.

Worked: 3 spans of a server pool give 900 bytes, and 2 calls to the database 50 rows: 300 bytes and 25 rows each.
"""

from __future__ import annotations

from importlib.resources import files

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.model.keys import PoolKey
from sluice.pools.estimate.models import DQN
from sluice.pools.learned.condition import DataSize
from sluice.pools.section import PoolsSection

SQL = files(__package__).joinpath("data_sizes.sql").read_text(encoding="utf-8")
COLUMNS = ("pool UInt32", "side String", "service String", "peer String")
LASTS_S, WINDOW_S = 60, 10


def parameters(now_ms: int) -> dict[str, object]:
    """The query's bounds: windows that begin in the newest minute. The newest window may be partial, since a mean of
    the spans that have come is enough."""
    now_s = now_ms // 1000
    return {"from_s": (now_s - LASTS_S) // WINDOW_S * WINDOW_S, "to_s": now_s + 1}


def keys(config: PoolsSection) -> Table:
    """The pools whose size is learnt, by their place in the configuration."""
    return Table(
        "keys",
        COLUMNS,
        [
            (number, pool.key.side, pool.key.service, pool.key.peer)
            for number, pool in enumerate(config.pools)
            if pool.model == DQN
        ],
    )


def data_sizes(columns: list[Column | Arrays], config: PoolsSection) -> dict[PoolKey, DataSize]:
    """Data sizes from the query's columns. A pool without a span that gives a size is left out."""
    numbers = [column.tolist() for column in columns if not isinstance(column, Arrays)]
    return {
        config.pools[pool].key: DataSize(_mean(row_sum, row_spans), _mean(byte_sum, byte_spans))
        for pool, row_spans, row_sum, byte_spans, byte_sum in zip(*numbers, strict=True)
        if row_spans or byte_spans
    }


def _mean(total: int, spans: int) -> float | None:
    return total / spans if spans else None
