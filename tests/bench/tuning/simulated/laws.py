"""What a configuration of a `World` costs: an open network of queues, without noise, for many configurations at once.

Requests wait for cores and for a place in a pool, each as in an M/M/n queue after Sakasegawa (1977): with utilization
u, a request waits with probability P = u^(sqrt(2 (n + 1)) - 1), and then for hold / (n (1 - u)) in the mean. A pool's
place is held for all that happens below it, so a slower store fills the pools of its callers. Means and variances add
up along the path; p95 is that of a lognormal distribution with both. A queue with u >= 1 grows by u - 1 a second.

    memory_mb of a cache     misses, so calls of the store; more than a host has makes all on it page
    batch                    calls of cache and store, their work a call, a wait to fill it
    connections, tickets     queue of the caller; how many contend in the store
    threads, workers         queue of the callers; contention
    keepalive of the front   work of all that it calls; debug, fsync: always harms; buffer_kb, journal_mb: nothing
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bench.tuning.simulated.world import CACHE_MB, FRONT, STORE_MB, Reader, World, drawn
from sluice.tuning.space import Configuration
from sluice.tuning.space.parameter import Category

# Of measuring, as `TrialLength` has it at least.
WINDOW_S = 30.0
Numbers = Mapping[str, np.ndarray]
Moments = tuple[np.ndarray, np.ndarray]
"""Mean (ms) and variance (ms²)."""


def waited(
    rate_per_s: np.ndarray, hold_ms: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (ms) and variance (ms²) of the wait, and the utilization. From u = 0.98 on the wait is that of 0.98.

    Worked: 100/s for 7 ms at one place: u = 0.7, P = 0.7, and 7 / 0.3 = 23.3 ms for those: 16.3 ms.
    """
    used = rate_per_s * hold_ms / 1e3 / places
    u = np.minimum(used, 0.98)
    share, delay = u ** (np.sqrt(2 * (places + 1)) - 1), hold_ms / (places * (1 - u))
    return share * delay, 2 * share * delay**2 - (share * delay) ** 2, used


@dataclass
class Flow:
    """One pass through the network. `calibrate`: sets the world's work and pools, by which the default is used.

    used  the largest utilization so far. own: by service, its time in a request and the share of requests with it
    """

    world: World
    at: Numbers
    calibrate: bool = False
    used: np.ndarray = field(default_factory=lambda: np.zeros(1))
    slowest_ms: np.ndarray = field(default_factory=lambda: np.zeros(1))
    own: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    _read: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=dict)

    def p95_ms(self) -> np.ndarray:
        world = self.world
        stores = {name: self._store(name) for name in dict.fromkeys(reader.store for reader in world.readers)}
        parts = [self._reader(reader, stores[reader.store]) for reader in world.readers]
        below = np.zeros(1), np.zeros(1)
        for stage in world.stages:
            first, last = parts[stage[0]], parts[stage[-1]]
            longer = first[0] >= last[0]
            below = below[0] + np.where(longer, first[0], last[0]), below[1] + np.where(longer, first[1], last[1])
            if len(stage) > 1:
                self._leave_out(world.readers[stage[1] if longer[0] else stage[0]])
        alone = self._station(FRONT, world.rate_per_s, 1.0, "workers")
        mean, variance = self._pooled(f"{FRONT}.workers", world.rate_per_s, (alone[0] + below[0], alone[1] + below[1]))
        self.own[FRONT] = mean - below[0], np.ones(1)
        spread = np.log1p(variance / mean**2)
        late_ms = 0.95e3 * WINDOW_S * np.maximum(0.0, 1 - 1 / np.maximum(self.used, 1.0))
        return np.asarray(mean * np.exp(1.6449 * np.sqrt(spread) - spread / 2) + late_ms)

    def _reads(self, reader: Reader) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Calls of the cache a request, items a call, the share of items that miss, and of calls with such an item."""
        if reader.name in self._read:
            return self._read[reader.name]
        items = np.minimum(self._number(f"{reader.name}.batch", 1), reader.reads)
        larger = CACHE_MB / self._number(f"{reader.cache}.memory_mb", CACHE_MB)
        effects, policy = self.world.services[reader.cache].effects, self._number(f"{reader.cache}.policy", 0)
        factor = np.array([1.0, effects["slru"], effects["lfu"]])[policy.astype(int)]
        missed = np.minimum(0.9, (0.04 + reader.missed * larger**reader.falls) * factor)
        self._read[reader.name] = reader.reads / items, items, missed, 1 - (1 - missed) ** items
        return self._read[reader.name]

    def _store(self, name: str) -> Moments:
        rate, fetched, open_, open_before = np.zeros(1), np.zeros(1), np.zeros(1), 0
        for reader in (reader for reader in self.world.readers if reader.store == name):
            calls, items, missed, missing = self._reads(reader)
            rate = rate + self.world.rate_per_s * calls * missing
            fetched = fetched + self.world.rate_per_s * calls * items * missed
            pool = f"{reader.name}.connections"
            open_, open_before = open_ + self._number(pool, 1), open_before + self.world.pools.get(pool, 1)
        effects = self.world.services[name].effects
        work = 0.5 + 0.5 * fetched / rate
        work = work * np.where(self._number(f"{name}.executor", 0) > 0, effects["adaptive"], 1.0)
        work = work * np.array([1.0, 1.2, 1.03])[self._number(f"{name}.fsync", 0).astype(int)]
        work = work * (0.8 + 0.2 * (STORE_MB / self._number(f"{name}.memory_mb", STORE_MB)) ** 0.5)
        tickets = f"{name}.tickets"
        inside = np.minimum(open_, self._number(tickets, 1))
        before = min(open_before, self.world.pools.get(tickets, 1))
        alone = self._station(name, rate, work, contending=np.ones(1) if self.calibrate else inside / before)
        return self._pooled(tickets, rate, alone)

    def _reader(self, reader: Reader, store: Moments) -> Moments:
        rate = self.world.rate_per_s
        calls, items, _, missing = self._reads(reader)
        cache = self._station(reader.cache, rate * calls, 0.5 + 0.5 * items)
        call = (
            cache[0] + missing * store[0],
            cache[1] + missing * (store[1] + store[0] ** 2) - (missing * store[0]) ** 2,
        )
        pooled = self._pooled(f"{reader.name}.connections", rate * calls, call)
        work = (0.7 + 0.3 / items) * np.where(self._number(f"{reader.name}.debug", 0) > 0, 1.1, 1.0)
        kept = self.world.services[reader.name].effects["keepalive"]
        work = work * np.where(self._number(f"{FRONT}.keepalive", 0) > 0, kept, 1.0)
        alone = self._station(reader.name, rate, work, "threads")
        fill_ms = reader.fill_ms * (items - 1)
        held = alone[0] + calls * pooled[0] + fill_ms, alone[1] + calls * pooled[1]
        whole = self._pooled(f"{reader.name}.threads", rate, held)
        self.own[reader.cache] = calls * cache[0], np.ones(1)
        visited = 1 - (1 - missing) ** calls
        before, share = self.own.get(reader.store, (np.zeros(1), np.zeros(1)))
        self.own[reader.store] = before + calls * missing * store[0], np.maximum(share, visited)
        self.own[reader.name] = whole[0] - calls * call[0], np.ones(1)
        return whole

    def _leave_out(self, reader: Reader) -> None:
        """Off the critical path: with its cache, and with a store that nobody else has."""
        alone = sum(other.store == reader.store for other in self.world.readers) == 1
        for name in (reader.name, reader.cache, *([reader.store] if alone else [])):
            self.own.pop(name)

    def _number(self, name: str, before: float) -> np.ndarray:
        found = self.at.get(name)
        return np.full(1, float(before)) if found is None else found

    def _station(
        self,
        name: str,
        rate: float | np.ndarray,
        work: float | np.ndarray,
        pool: str = "",
        contending: np.ndarray | None = None,
    ) -> Moments:
        """Time for and on cores. work: as a share of that at the default."""
        service, places = self.world.services[name], f"{name}.{pool}"
        if pool and not self.calibrate:
            contending = self._number(places, 1) / self.world.pools[places]
        if contending is not None:
            work = work * (1 + service.contention * contending) / (1 + service.contention)
        factor, rates = np.asarray(work) * self._paging[service.host], np.asarray(rate)
        if self.calibrate:
            self.world.work_ms[name] = float((1e3 * service.used * service.cores / rates / factor)[0])
        ms = factor * self.world.work_ms[name]
        mean, variance, used = waited(rates, ms, np.full(1, float(service.cores)))
        self.used = np.maximum(self.used, used)
        # Relaxation time of the queue's length, M/M/1 with the cores' speed.
        relaxed = ms / service.cores / (1 - np.sqrt(np.minimum(used, 0.98))) ** 2
        self.slowest_ms = np.maximum(self.slowest_ms, relaxed)
        return mean + ms, variance + (service.cv * ms) ** 2

    def _pooled(self, name: str, rate: float | np.ndarray, held: Moments) -> Moments:
        rates = np.asarray(rate)
        if self.calibrate:
            used = self.world.services[name.partition(".")[0]].pool_used
            self.world.pools[name] = math.ceil(float((rates * held[0])[0]) / 1e3 / used)
        places = self._number(name, self.world.pools[name])
        mean, variance, filled = waited(rates, held[0], places)
        self.used = np.maximum(self.used, filled)
        return held[0] + mean, held[1] + variance

    @cached_property
    def _paging(self) -> tuple[np.ndarray, ...]:
        """By host: work, as a share of that with enough memory."""
        over = [np.full(1, -spare) for spare in self.world.spare_mb]
        before = {reader.cache: CACHE_MB for reader in self.world.readers}
        before |= {reader.store: STORE_MB for reader in self.world.readers}
        for name, mb in before.items():
            host = self.world.services[name].host
            over[host] = over[host] + self._number(f"{name}.memory_mb", mb) - mb
        return tuple(1 + 0.1 * (np.maximum(0.0, mb) / 1024) ** 2 for mb in over)


def calibrated(seed: int) -> World:
    """The world of a seed, whose default is used by 0.6 to 0.8."""
    world = drawn(seed)
    Flow(world, {}, calibrate=True).p95_ms()
    return world


def numbers(world: World, configuration: Configuration) -> dict[str, np.ndarray]:
    """Of a configuration, a choice as its place among the choices."""
    kinds = world.space.kinds
    return {
        name: np.array([float(kind.choices.index(str(value)) if isinstance(kind := kinds[name], Category) else value)])
        for name, value in configuration.items()
    }
