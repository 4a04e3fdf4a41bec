"""The time in the services above each pool, by the critical paths of the streaming job (Sora 3.2, eq. 2).

The wait for the service's own threads is not subtracted (`call_upstream`), neither for its threads nor for its
connections. Callers' CLIENT spans, which judge its threads, contain that wait. Its connections may be what its threads
wait for: a threshold that fell with the wait would ask for fewer connections, which make the wait longer.

Worked: under an SLO of 255 ms frontend takes 15 ms itself, and waits 40 ms for a thread of orders: 240 ms remain for
the threads of orders, and 240 ms for its connections.
"""

from __future__ import annotations

from importlib.resources import files

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.model.patterns import ANY, like
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.section import Pool, PoolsSection, Slo, Statistic, Upstream

SQL = files(__package__).joinpath("upstream.sql").read_text(encoding="utf-8")

# The p95 of fewer traces is the slowest trace alone.
LEAST_TRACES = 20
# Quantiles; the mean has none.
PER_MILLE: dict[Statistic, int] = {"mean": -1, "p50": 500, "p90": 900, "p95": 950, "p99": 990}
KEY_COLUMNS = (
    *("asked UInt32", "exact_root String", "root String", "operation String", "service String"),
    *("per_mille Int16", "from_ms Int64"),
)


def keys(config: PoolsSection, now_ms: int) -> Table:
    """The pools with a measured upstream. `asked` indexes `_upstreams`."""
    rows: list[tuple[int | str, ...]] = []
    for index, (pool, slo, upstream) in enumerate(_upstreams(config)):
        root = "" if ANY in slo.service else slo.service
        operation, q = like(slo.operation or ANY), PER_MILLE[upstream.statistic]
        rows.append((index, root, like(slo.service), operation, pool.service, q, now_ms - int(upstream.window)))
    return Table("keys", KEY_COLUMNS, rows)


def parameters(keys: Table, now_ms: int) -> dict[str, object]:
    """Parameters of `SQL`, for keys with a row at least."""
    return {"oldest_ms": min(int(row[-1]) for row in keys.rows), "to_ms": now_ms, "least": LEAST_TRACES}


def times(columns: list[Column | Arrays], config: PoolsSection) -> dict[UpstreamRequest, UpstreamTime]:
    """Times from the query's columns (asked, seen, upstream_ns); pools with too few traces are left out."""
    requests = [UpstreamRequest(pool.key, slo.name) for pool, slo, _ in _upstreams(config)]
    numbers = [column.tolist() for column in columns if not isinstance(column, Arrays)]
    return {requests[index]: UpstreamTime(ns / 1e6, seen) for index, seen, ns in zip(*numbers, strict=True)}


def _upstreams(config: PoolsSection) -> list[tuple[Pool, Slo, Upstream]]:
    return [
        (pool, slo, upstream)
        for pool in config.pools
        for upstream in (pool.measured,)
        if upstream is not None
        for slo in config.slos_of(pool)
    ]
