"""Matches pools of metrics with pools of the configuration: by a configured name, by peer, or by being the only one.

Where several pools of the metrics may be the pool, none is: the doubt is text for people. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.pools.metrics.pool_metric import PoolMetric, PoolMetrics
from sluice.pools.section import Pool

# A series whose newest point is older than this, beside a newer one of its instance, is of a pool that is gone.
GONE_MS = 90_000


class Matches(NamedTuple):
    """sizes: of each pool that was found, oldest first, of one metric for each instance. doubts: why a pool was not
    found, although its service has metrics that may be its own."""

    sizes: Mapping[PoolKey, list[PoolMetric]]
    doubts: Mapping[PoolKey, str]


class _DoubtError(Exception):
    """Metrics that may be the pool's, but need not be."""


def matches(pools: Iterable[Pool], metrics: PoolMetrics) -> Matches:
    sizes: dict[PoolKey, list[PoolMetric]] = {}
    doubts: dict[PoolKey, str] = {}
    by_service = _current(metrics.sizes)
    configured: dict[str, set[str]] = {}
    for pool in pools:
        configured.setdefault(pool.service, set()).add(pool.metrics)
    for pool in pools:
        of_service = by_service.get(pool.service)
        if not of_service:
            continue
        others = configured[pool.service] - {pool.metrics, ""}
        try:
            found = _of(pool, of_service, others, metrics.peers.get(pool.service, frozenset()))
        except _DoubtError as doubt:
            doubts[pool.key] = str(doubt)
            continue
        if found:
            sizes[pool.key] = _of_lowest_rank(found)
    return Matches(sizes, doubts)


def _of(
    pool: Pool, of_service: Sequence[PoolMetric], others: Collection[str], peers: frozenset[str]
) -> Sequence[PoolMetric]:
    """The pool's metrics; () where none can be its own. others: names that the configuration gives to other pools of
    the service. Raises _DoubtError."""
    if pool.metrics:
        named = [one for one in of_service if one.name == pool.metrics]
        if not named:
            raise _DoubtError(
                f"metrics of {pool.service} have no pool {pool.metrics!r}; they have {_names(of_service)}"
            )
        return _agreeing(pool, named)
    of_side = [one for one in of_service if one.side == pool.side and one.name not in others]
    if pool.side != "client":
        return _only(pool, of_side)
    if of_peer := [one for one in of_side if one.peer == pool.peer]:
        return _only(pool, of_peer)
    if all(one.peer for one in of_side) or pool.peer not in (databases := _databases(peers)):
        return ()
    if len(databases) > 1:
        raise _DoubtError(
            f"no attribute says to which of {', '.join(sorted(databases))} the connection pool {_names(of_side)} of "
            f"{pool.service} leads; set metrics: NAME at each pool"
        )
    return _only(pool, of_side)


def _databases(peers: frozenset[str]) -> frozenset[str]:
    """The peers to which the connections of a pool may lead. A peer that spans name with a namespace (db/shop) is a
    database; where none has one, any peer may be."""
    return frozenset(peer for peer in peers if "/" in peer) or peers


def _only(pool: Pool, found: Sequence[PoolMetric]) -> Sequence[PoolMetric]:
    """`found`, if it is one pool. Raises _DoubtError where one metric has several names."""
    names: dict[str, set[str]] = {}
    for one in found:
        names.setdefault(one.metric, set()).add(one.name)
    if any(len(of) > 1 for of in names.values()):
        raise _DoubtError(
            f"metrics of {pool.service} have several pools: {_names(found)}; set metrics: NAME at the pool"
        )
    return _agreeing(pool, found)


def _agreeing(pool: Pool, found: Sequence[PoolMetric]) -> Sequence[PoolMetric]:
    """`found`, if the newest sizes of each instance are the same in all its metrics. Raises _DoubtError."""
    newest = {(one.instance, one.series): one for one in found if one.size is not None}
    sizes: dict[str, dict[int, str]] = {}
    for (instance, _), one in newest.items():
        sizes.setdefault(instance, {})[one.low] = one.metric
    for instance, by_size in sizes.items():
        if len(by_size) > 1:
            said = ", ".join(f"{metric} {size}" for size, metric in sorted(by_size.items()))
            raise _DoubtError(f"metrics of {pool.service} {instance} differ: {said}; set metrics: NAME at the pool")
    return found


def _names(metrics: Iterable[PoolMetric]) -> str:
    return ", ".join(sorted({one.name or one.metric for one in metrics}))


def _current(sizes: Sequence[PoolMetric]) -> dict[str, list[PoolMetric]]:
    """The metrics by service, without series of pools that are gone from their instance."""
    newest: dict[tuple[str, str], int] = {}
    of_series: dict[tuple[str, str, str], int] = {}
    for one in sizes:
        instance, series = (one.service, one.instance), (one.service, one.instance, one.series)
        newest[instance] = max(newest.get(instance, 0), one.last_ms)
        of_series[series] = max(of_series.get(series, 0), one.last_ms)
    current: dict[str, list[PoolMetric]] = {}
    for one in sizes:
        age_ms = newest[one.service, one.instance] - of_series[one.service, one.instance, one.series]
        if age_ms <= GONE_MS:
            current.setdefault(one.service, []).append(one)
    return current


def _of_lowest_rank(found: Sequence[PoolMetric]) -> list[PoolMetric]:
    """The metric of the lowest rank of each instance, and of its series the first by name."""
    best: dict[str, tuple[int, str]] = {}
    for one in found:
        best[one.instance] = min(best.get(one.instance, (one.rank, one.series)), (one.rank, one.series))
    return [one for one in found if best[one.instance] == (one.rank, one.series)]
