"""The configuration of a shard with the pools that it found: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.section import Pool, PoolsSection


def with_found(declared: PoolsSection, candidates: Mapping[PoolKey, Candidate]) -> PoolsSection:
    """The declared pools, and behind them the found ones, the newest last: a further one leaves the numbers of the
    others. A declared pool overrides the one that was found under its key."""
    if declared.discovery is None:
        return declared
    selects, named = declared.discovery.selects, {pool.key for pool in declared.pools}
    found = [one for one in candidates.values() if one.found_by is not None and one.key not in named]
    found = [one for one in found if one.found_by != "configuration" and selects(one.key)]
    return with_pools(declared, [one.key for one in sorted(found, key=lambda one: (one.found_at_ms, one.key))])


def with_pools(config: PoolsSection, keys: Iterable[PoolKey]) -> PoolsSection:
    """The configuration with further pools, which have all keys by default."""
    return config.model_copy(update={"pools": [*config.pools, *map(default_pool, keys)]})


@lru_cache(maxsize=100_000)
def default_pool(key: PoolKey) -> Pool:
    return Pool(service=key.service, side=key.side, peer=key.peer)
