"""The products of a decider, in the order of their periods. A further product adds its line in each function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from prometheus_client import CollectorRegistry, Gauge

from sluice.decider.heartbeat import Heartbeats
from sluice.engine.codec import DeciderCodec
from sluice.engine.product import Product, ProductShard
from sluice.pools.counts import PoolMetrics
from sluice.pools.period.history import History
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.product import PoolsProduct
from sluice.pools.shard import PoolsShard
from sluice.subsets.product import Notifications, SubsetResources, SubsetsProduct
from sluice.tuning.product import TuningProduct, TuningResources


def codec() -> DeciderCodec:
    """Containers come before the subsets that name them, and pools last, since they own all other keys."""
    products = SubsetsProduct, TuningProduct, PoolsProduct
    return DeciderCodec({product.name: product.codec for product in products}, Heartbeats())


def products(
    collector: Callable[[], WindowSource],
    pools: PoolResources | None = None,
    subsets: SubsetResources | None = None,
    tuning: TuningResources | None = None,
    history: Callable[[], History] | None = None,
    registry: CollectorRegistry | None = None,
) -> Sequence[Product]:
    """subsets, tuning: None where none are to be decided. registry: of metrics; None: no metrics."""
    pools = pools or PoolResources()
    counts = None if registry is None else PoolMetrics(registry)
    text = "Applications of these shards with subsets."
    applications = Gauge("sluice_decider_applications", text, registry=registry)
    text = "Subsets of these shards without an endpoint: the downstream service has no live container."
    empty = Gauge("sluice_decider_subsets_empty", text, registry=registry)
    text = "Time since a tuning trial was due that has no outcome yet, of the oldest; 0 without such a trial."
    overdue = Gauge("sluice_decider_tuning_trial_overdue_seconds", text, registry=registry)
    return (
        PoolsProduct(collector, pools, history, counts),
        SubsetsProduct(subsets, _notifications, pools.problems, applications.set, empty.set),
        TuningProduct(tuning, pools.problems, overdue.set),
    )


def _notifications(parts: Mapping[str, ProductShard]) -> Notifications:
    """The containers in notifications of autoscalers, which the pools' part of a shard keeps."""
    return cast(PoolsShard, parts[PoolsProduct.name]).scalings
