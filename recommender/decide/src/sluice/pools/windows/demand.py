"""The demand on one instance behind a pool, and the callers that wait for it, over a complete minute: one query for
all.

The CLIENT span of a call that waits longer than its caller does ends at the caller's timeout. So in a steady state as
many calls end as arrive, however few of them are served. Worked: 450 a second are sent to 2 instances that serve 182
each. 450 CLIENT spans end a second, 86 of them in error, and the demand on one instance is 225.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.model.demand import LASTS_S, Demand
from sluice.model.keys import PoolKey
from sluice.pools.section import PoolsSection
from sluice.pools.windows import query
from sluice.pools.windows.latency import last_index_within

SQL = files(__package__).joinpath("demand.sql").read_text(encoding="utf-8")
EVERY_S = 10
# The busy time of one request in flight all the time, ns.
HELD = LASTS_S * 1e9
# Rows of 10 s are written from those of 1 s every 10 s, those from windows every 5 s, and spans arrive some seconds
# late.
SETTLES_S = 30


def until_s(now_ms: int) -> int:
    """The end of the newest complete minute, Unix time."""
    return (now_ms // 1000 - SETTLES_S) // EVERY_S * EVERY_S


def parameters(config: PoolsSection, to_s: int) -> dict[str, object]:
    return {"from_s": to_s - LASTS_S, "to_s": to_s, "bucket_ms": config.stored_ms}


def keys(config: PoolsSection, thresholds_ns: Mapping[PoolKey, int]) -> Table:
    """The server and client pools, by their place in the configuration."""
    requests = [
        (number, pool.key, last_index_within(thresholds_ns[pool.key]))
        for number, pool in enumerate(config.pools)
        if pool.side != "consumer"
    ]
    calls = [(number, last_good, 2, "client", key.service, "") for number, key, last_good in requests if key.peer]
    table = query.keys(requests)
    return table._replace(rows=[*table.rows, *calls])


def demands(columns: list[Column | Arrays], config: PoolsSection, to_s: int) -> dict[PoolKey, Demand]:
    """Demands from the query's columns. A pool without own spans has none, since the number of its instances is
    unknown.

    Worked, a pool of 4 connections, its service's requests 94 in flight, of which 0.4 in its calls: 93.6 wait.
    """
    by_pool: dict[PoolKey, Demand] = {}
    numbers = [column.tolist() for column in columns if not isinstance(column, Arrays)]
    for number, done, arrived, good, instances, busy, judges_held, calls_held in zip(*numbers, strict=True):
        if instances:
            key, judged = config.pools[number].key, arrived > 0
            per_s = (arrived if judged else done) / LASTS_S / instances
            in_flight, accounted = busy / HELD / instances, (calls_held if key.side == "client" else busy)
            waiting = max(0.0, (judges_held - accounted) / HELD / instances) if judged else None
            in_time = good / arrived if judged else None
            by_pool[key] = Demand(1000 * to_s, per_s, in_time, in_flight, waiting, key.side == "server")
    return by_pool
