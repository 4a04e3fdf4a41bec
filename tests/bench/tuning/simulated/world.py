"""Random applications to tune. What their parameters do is in `laws.py`.

A front calls three to five services in stages. In a stage that has two, they work at the same time, and the shorter one
is off the critical path. Each service reads through a cache from a store, and some share a store. Two hosts have the
memory. By calibration, the cores of each service are used by 0.6 to 0.8 at the default, and pools by 0.3 to 0.6.

The ranges are such that about a third of random configurations overload the application. With the first
ranges nearly all did, and on the one seed that was run no method found more than a fifth of the p95.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sluice.tuning.space import Boolean, Category, Integer, Parameter, Space

POLICIES, SYNC, EXECUTORS = ("lru", "slru", "lfu"), ("everysec", "always", "no"), ("synchronous", "adaptive")
CACHE_MB, STORE_MB, MOST_MB = 64, 256, 4096
FRONT = "front"
# The largest value of a pool, as a multiple of its default. The least is half of it.
LARGEST = 4


@dataclass(frozen=True)
class Service:
    """cores: whole. used: its cores' and its pool's utilization at the default. cv: of its service time.

    contention  k of (1 + k n / n0) / (1 + k), by which n threads instead of the default n0 change its work
    effects     by parameter, what this world's seed makes of it
    """

    name: str
    cores: int
    used: float
    pool_used: float
    cv: float
    host: int
    contention: float
    effects: Mapping[str, float]


@dataclass(frozen=True)
class Reader:
    """A service that reads: `reads` items a request, through `cache`, from `store`. fill_ms: a batch waits for each
    further item. missed, falls: misses are 0.04 + missed (64 / MB)^falls."""

    name: str
    cache: str
    store: str
    reads: float
    fill_ms: float
    missed: float
    falls: float


@dataclass(frozen=True)
class World:
    """stages: readers by number; those of one stage work at the same time. work_ms, pools: set by `laws.calibrated`."""

    rate_per_s: float
    services: Mapping[str, Service]
    readers: tuple[Reader, ...]
    stages: tuple[tuple[int, ...], ...]
    spare_mb: tuple[float, float]
    work_ms: dict[str, float] = field(default_factory=dict)
    pools: dict[str, int] = field(default_factory=dict)

    @cached_property
    def space(self) -> Space:
        """All parameters, in the order in which requests reach their services."""
        found = [self._pool(FRONT, "workers"), Parameter("front.keepalive", Boolean(), False, FRONT)]
        found.append(Parameter("front.buffer_kb", Integer(1, 1024, log=True), 16, FRONT))
        for reader in self.readers:
            name, cache = reader.name, reader.cache
            found += [self._pool(name, "threads"), self._pool(name, "connections")]
            found.append(Parameter(f"{name}.batch", Integer(1, 32, log=True), 1, name))
            found.append(Parameter(f"{name}.debug", Boolean(), False, name))
            memory = Integer(32, MOST_MB, log=True)
            found.append(Parameter(f"{cache}.memory_mb", memory, CACHE_MB, cache))
            found.append(Parameter(f"{cache}.policy", Category(POLICIES), "lru", cache))
        for store in dict.fromkeys(reader.store for reader in self.readers):
            found.append(Parameter(f"{store}.executor", Category(EXECUTORS), "synchronous", store))
            found.append(Parameter(f"{store}.memory_mb", Integer(64, MOST_MB, log=True), STORE_MB, store))
            found += [self._pool(store, "tickets"), Parameter(f"{store}.fsync", Category(SYNC), "everysec", store)]
            found.append(Parameter(f"{store}.journal_mb", Integer(16, 1024, log=True), 128, store))
        return Space(tuple(found))

    def _pool(self, service: str, name: str) -> Parameter:
        default = self.pools[f"{service}.{name}"]
        return Parameter(
            f"{service}.{name}", Integer(max(1, default // 2), LARGEST * default, log=True), default, service
        )


def drawn(seed: int) -> World:
    """The world of a seed, not calibrated yet."""
    rng = random.Random(f"tuning/simulated/{seed}")
    count = rng.randint(3, 5)
    stores = [f"store-{at if at == 0 or rng.random() < 0.7 else rng.randrange(at)}" for at in range(count)]
    readers = tuple(
        Reader(
            f"logic-{at}", f"cache-{at}", stores[at], rng.uniform(2, 8), rng.uniform(0.1, 0.6),
            rng.uniform(0.2, 0.5), rng.uniform(0.3, 0.7),
        )
        for at in range(count)
    )  # fmt: skip
    together = {*range(1, count - 1, 2)} if rng.random() < 0.8 else set()
    stages = tuple((at, at + 1) if at in together else (at,) for at in range(count) if at - 1 not in together)
    names = [FRONT, *(name for reader in readers for name in (reader.name, reader.cache)), *dict.fromkeys(stores)]
    services = {
        name: Service(
            name, rng.randint(1, 2) if name.startswith("cache") else rng.randint(2, 6), rng.uniform(0.6, 0.8),
            rng.uniform(0.3, 0.6), rng.uniform(0.4, 1.2), rng.randrange(2), rng.uniform(0.01, 0.06),
            {"keepalive": rng.uniform(0.85, 0.98), "adaptive": rng.uniform(0.85, 1.1),
             "slru": rng.uniform(0.85, 1.1), "lfu": rng.uniform(0.85, 1.2)},
        )
        for name in names
    }  # fmt: skip
    return World(rng.uniform(100, 300), services, readers, stages, (rng.uniform(2e3, 6e3), rng.uniform(2e3, 6e3)))
