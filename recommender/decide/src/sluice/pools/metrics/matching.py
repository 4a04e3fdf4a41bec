"""Matches pools of metrics with pools of the configuration: by a configured name, by peer, or by being the only one.

Where several pools of the metrics may be the pool, none is: the doubt is text for people. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric
from sluice.pools.metrics.use import Use
from sluice.pools.section import Pool

# A series whose newest point is older than this, beside a newer one of its instance, is of a pool that is gone.
GONE_MS = 90_000


class Matches(NamedTuple):
    """sizes: of each pool that was found, oldest first, of one metric for each instance. doubts: why a pool was not
    found, although its service has metrics that may be its own. uses: of the pools that were found, by instance."""

    sizes: Mapping[PoolKey, list[PoolMetric]]
    doubts: Mapping[PoolKey, str]
    uses: Mapping[PoolKey, Mapping[str, Use]] = MappingProxyType({})


class _DoubtError(Exception):
    """Metrics that may be the pool's, but need not be."""


def matches(pools: Sequence[Pool], metrics: MetricsReading) -> Matches:
    sizes: dict[PoolKey, list[PoolMetric]] = {}
    doubts: dict[PoolKey, str] = {}
    uses: dict[PoolKey, Mapping[str, Use]] = {}
    by_service = _current(metrics.sizes)
    configured: dict[str, set[str]] = {}
    for pool in pools:
        configured.setdefault(pool.service, set()).add(pool.metrics)
    for pool in pools:
        rows = by_service.get(pool.service)
        if not rows:
            continue
        others = configured[pool.service] - {pool.metrics, ""}
        try:
            own = _own(pool, rows, others, metrics.peers.get(pool.service, frozenset()))
        except _DoubtError as doubt:
            doubts[pool.key] = str(doubt)
            continue
        if own:
            sizes[pool.key] = counted = _of_lowest_rank(own)
            if used := {row.instance: metrics.uses[row.of] for row in counted if row.of in metrics.uses}:
                uses[pool.key] = used
    return Matches(sizes, doubts, uses)


def _own(
    pool: Pool, rows: Sequence[PoolMetric], others: Collection[str], peers: frozenset[str]
) -> Sequence[PoolMetric]:
    """The pool's metrics among those of its service; () where none can be its own. others: names that the configuration
    gives to other pools of the service. Raises _DoubtError."""
    if pool.metrics:
        namesakes = [row for row in rows if row.name == pool.metrics]
        if not namesakes:
            raise _DoubtError(f"metrics of {pool.service} have no pool {pool.metrics!r}; they have {_names(rows)}")
        return _agreeing(pool, namesakes)
    candidates = [row for row in rows if row.side == pool.side and row.name not in others]
    if pool.side != "client":
        return _only(pool, candidates)
    if same_peer := [row for row in candidates if row.peer == pool.peer]:
        return _only(pool, same_peer)
    if all(row.peer for row in candidates) or pool.peer not in (databases := _databases(peers)):
        return ()
    if len(databases) > 1:
        raise _DoubtError(
            f"no attribute says to which of {', '.join(sorted(databases))} the connection pool {_names(candidates)} of "
            f"{pool.service} leads; set metrics: NAME at each pool"
        )
    return _only(pool, candidates)


def _databases(peers: frozenset[str]) -> frozenset[str]:
    """The peers to which the connections of a pool may lead. A peer that spans name with a namespace (db/shop) is a
    database; where none has one, any peer may be."""
    return frozenset(peer for peer in peers if "/" in peer) or peers


def _only(pool: Pool, rows: Sequence[PoolMetric]) -> Sequence[PoolMetric]:
    """`rows`, if they are of one pool. Raises _DoubtError where one metric has several names."""
    names: dict[str, set[str]] = {}
    for row in rows:
        names.setdefault(row.metric, set()).add(row.name)
    if any(len(several) > 1 for several in names.values()):
        raise _DoubtError(
            f"metrics of {pool.service} have several pools: {_names(rows)}; set metrics: NAME at the pool"
        )
    return _agreeing(pool, rows)


def _agreeing(pool: Pool, rows: Sequence[PoolMetric]) -> Sequence[PoolMetric]:
    """`rows`, if the newest sizes of each instance are the same in all its metrics. Raises _DoubtError."""
    newest = {(row.instance, row.series): row for row in rows if row.size is not None}
    metrics: dict[str, dict[int, str]] = {}
    for row in newest.values():
        metrics.setdefault(row.instance, {})[row.low] = row.metric
    for instance, by_size in metrics.items():
        if len(by_size) > 1:
            text = ", ".join(f"{metric} {size}" for size, metric in sorted(by_size.items()))
            raise _DoubtError(f"metrics of {pool.service} {instance} differ: {text}; set metrics: NAME at the pool")
    return rows


def _names(rows: Iterable[PoolMetric]) -> str:
    return ", ".join(sorted({row.name or row.metric for row in rows}))


def _current(rows: Sequence[PoolMetric]) -> dict[str, list[PoolMetric]]:
    """The metrics by service, without series of pools that are gone from their instance."""
    instances: dict[tuple[str, str], int] = {}
    series: dict[tuple[str, str, str], int] = {}
    for row in rows:
        instance, name = (row.service, row.instance), (row.service, row.instance, row.series)
        instances[instance] = max(instances.get(instance, 0), row.last_ms)
        series[name] = max(series.get(name, 0), row.last_ms)
    current: dict[str, list[PoolMetric]] = {}
    for row in rows:
        age_ms = instances[row.service, row.instance] - series[row.service, row.instance, row.series]
        if age_ms <= GONE_MS:
            current.setdefault(row.service, []).append(row)
    return current


def _of_lowest_rank(rows: Sequence[PoolMetric]) -> list[PoolMetric]:
    """The metric of the lowest rank of each instance, and of its series the first by name."""
    best: dict[str, tuple[int, str]] = {}
    for row in rows:
        best[row.instance] = min(best.get(row.instance, (row.rank, row.series)), (row.rank, row.series))
    return [row for row in rows if best[row.instance] == (row.rank, row.series)]
