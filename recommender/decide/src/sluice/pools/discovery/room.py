"""How many pools fit in a decider's memory, all of its shards together."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from sluice.engine.cpus import memory_bytes

# `make bench BENCH=loop-scale`: a decider without pools 330 MB; 3,500 pools in one process 928 MB, 10,000 in three
# 2,269 MB. Worked: 1 GiB holds (1,074 - 330) / 0.23 = 3,233 pools.
BASE_BYTES, POOL_BYTES = 330_000_000, 230_000


class MemoryRoom:
    """The kernel kills a decider that takes more memory than its limit, again after each start; so the pools that it
    finds end where the memory does. The configured ones are taken whatever they need."""

    def __init__(self, memory: int | None = None) -> None:
        """memory: in bytes; None: the limit of this process."""
        self.memory = memory_bytes() if memory is None else memory
        self.most = max(0, self.memory - BASE_BYTES) // POOL_BYTES
        self._taken: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    def beside(self, shard: object) -> int:
        """The pools that this shard may have, beside those of the others."""
        return max(0, self.most - sum(pools for other, pools in self._taken.items() if other is not shard))

    def take(self, shard: object, pools: int) -> None:
        """The shard has so many pools, until it is gone."""
        self._taken[shard] = pools

    def __str__(self) -> str:
        return f"{self.most:,} pools fit in {self.memory / 2**20:,.0f} MiB"
