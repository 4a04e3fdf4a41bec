"""The time in the services above each pool, by the critical paths of the streaming job (Sora 3.2, eq. 2).

A pool's threshold is for the spans that judge it, so time within these spans is not upstream. Callers' CLIENT spans
judge a server pool and contain the wait for its threads: that wait is not subtracted (`call_upstream`). Its service's
SERVER spans judge a client pool, and begin after the wait for the service's threads: that wait is subtracted
(`upstream`).

Worked: under an SLO of 255 ms frontend takes 15 ms itself, and waits 40 ms for a thread of orders. 240 ms remain for
the threads of orders, judged by frontend's CLIENT spans, and 200 ms for its connections.
"""

from __future__ import annotations

from importlib.resources import files

from sluice.model.patterns import ANY, like
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.section import Pool, PoolsSection, Slo, Statistic, Upstream

SQL = files(__package__).joinpath("upstream.sql").read_text(encoding="utf-8")

# The p95 of fewer traces is the slowest trace alone.
LEAST_TRACES = 20
# The mean has no quantile.
QUANTILES: dict[Statistic, float] = {"mean": -1.0, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def parameters(config: PoolsSection, now_ms: int) -> dict[str, object] | None:
    """Parameters of `SQL`, for the pools with a measured upstream; None when there is none. `asked`
    indexes `_upstreams`."""
    keys: list[tuple[int, str, str, str, bool, float, int]] = []
    of = _upstreams(config)
    for index, (pool, slo, upstream) in enumerate(of):
        from_ms = now_ms - int(upstream.window)
        q = QUANTILES[upstream.statistic]
        by_callers = pool.side == "server"
        keys.append((index, like(slo.service), like(slo.operation or ANY), pool.service, by_callers, q, from_ms))
    if not keys:
        return None
    return {
        "keys": keys,
        "services": sorted({(slo.service, pool.service) for pool, slo, _ in of if ANY not in slo.service}),
        "of_any_root": sorted({pool.service for pool, slo, _ in of if ANY in slo.service}),
        "oldest_ms": min(key[-1] for key in keys),
        "to_ms": now_ms,
        "least": LEAST_TRACES,
    }


def times(columns: list[list[float]], config: PoolsSection) -> dict[UpstreamRequest, UpstreamTime]:
    """Times from the query's columns (asked, seen, upstream_ms); pools with too few traces are left out."""
    requests = [UpstreamRequest(pool.key, slo.name) for pool, slo, _ in _upstreams(config)]
    return {
        requests[int(index)]: UpstreamTime(float(value), int(age_ms))
        for index, age_ms, value in zip(*columns, strict=True)
    }


def _upstreams(config: PoolsSection) -> list[tuple[Pool, Slo, Upstream]]:
    return [
        (pool, slo, upstream)
        for pool in config.pools
        for upstream in (pool.measured,)
        if upstream is not None
        for slo in config.slos_of(pool)
    ]
