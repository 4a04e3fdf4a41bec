"""Reads the newest windows of all pools, and what stands above them: the only I/O on the way to a decision."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from sluice.clocks import offsets
from sluice.clocks.offsets import Clocks, Instance
from sluice.collect import data_sizes, demand, upstream
from sluice.collect.delay import LONGEST_MS, NEVER, Arrivals, Delay
from sluice.collect.newest import fixed_settle_ms, newest
from sluice.collect.reading import Database, Reading
from sluice.collect.rows import Ints, Measured, whole_before
from sluice.collect.whole import Whole, alone, whole
from sluice.collect.window import OnDemand, Window
from sluice.config import Config
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.learn.condition import DataSize

# Room in front of the window for spans that are late: peers that only traces tell come some 6 s after the spans.
LATE_MS = 10_000


class Collector:
    """A query per call and kind of pool for what is new, whatever their number; more only for those read whole.
    Remembers the rows of the window, how late they come, and how long the buckets of each pool are, where the data
    choose it.

    Raises what the database raises: a period without an answer is the caller's to handle.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = Reading(database)
        self._delay = Delay(0, 1)
        self._intervals_ms: dict[PoolKey, int] = {}
        self._readings = 0
        self._clocks = Clocks()

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the rows."""
        return self._reading.cells.nbytes

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """What the services above take, where a pool asks for it and enough traces lead to it; {} asks nobody."""
        parameters = upstream.parameters(config, now_ms)
        if parameters is None:
            return {}
        columns = self._database.columns(upstream.SQL, parameters)
        return upstream.times(columns, config) if columns else {}

    def demand(self, config: Config, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        """What was asked of each server pool in the minute up to `to_s`, Unix time."""
        keys = demand.keys(config, thresholds_ns)
        if not keys.rows:
            return {}
        return demand.demands(self._database.arrays(demand.SQL, demand.parameters(config, to_s), keys), config, to_s)

    def data_sizes(self, config: Config, now_ms: int) -> dict[PoolKey, DataSize]:
        """How much data a span of the newest minute moved, of each pool whose size is learnt; {} asks nobody."""
        keys = data_sizes.keys(config)
        if not keys.rows:
            return {}
        return data_sizes.data_sizes(self._database.arrays(data_sizes.SQL, data_sizes.parameters(now_ms), keys), config)

    def clocks(self, config: Config, now_ms: int) -> Mapping[Instance, int]:
        """How many ms clocks are ahead, of instances where they are off: taken out of what is collected from now on."""
        columns = self._database.columns(offsets.SQL, offsets.parameters(now_ms))
        self._clocks.take(offsets.seen_of(columns) if columns else {}, config.stored_ms)
        return self._clocks.offsets_ms

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        """What is there at `now_ms`; the window that it gave before is over.

        thresholds_ns: of the pools that are to be judged. Of others their own rows alone are read.
        live: False when `now_ms` lies in the past, as of a decider that makes good for the time that it was away. It
        goes on in steps of a window at most up to the present, and misses nothing: more than a window is read.
        """
        fixed_ms = fixed_settle_ms(config)
        late_ms = LONGEST_MS if fixed_ms is None else LATE_MS + fixed_ms
        keys = [pool.key for pool in config.pools]
        thresholds = [thresholds_ns.get(key) for key in keys]
        from_ms = now_ms - int(config.window) - late_ms
        self._readings += 1
        arrivals = self._reading.read(keys, thresholds, from_ms, now_ms, config.stored_ms, self._clocks.offsets_ms)
        if fixed_ms is None:
            settle_ms, before_ms = self._measured(arrivals, now_ms, live, config.stored_ms)
        else:
            settle_ms = np.full(len(keys), fixed_ms)
            before_ms = np.where(arrivals.newest_ms == NEVER, NEVER, arrivals.newest_ms - fixed_ms)
        return self._window(config, thresholds_ns.keys(), now_ms, settle_ms, before_ms)

    def _measured(self, arrivals: Arrivals, now_ms: int, live: bool, stored_ms: int) -> tuple[Ints, Ints]:
        if arrivals.anew:
            self._delay = Delay(len(arrivals.newest_ms), stored_ms)
        self._delay.take(arrivals, now_ms, live)
        return self._delay.settle_ms, self._delay.whole_before(now_ms)

    def _window(
        self, config: Config, judged: Collection[PoolKey], now_ms: int, settle_ms: Ints, before_ms: Ints
    ) -> Window:
        """settle_ms, before_ms: of each pool; buckets that start before `before_ms` are whole."""
        bucket_ms, number_of_reading = config.stored_ms, self._readings
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        automatic = {pool.key for pool in config.pools if config.bucket_of(pool) == "auto"}
        # What the data chose holds over periods in which a pool has none, and not over a restart.
        self._intervals_ms = {key: ms for key, ms in self._intervals_ms.items() if key in automatic}

        def reading() -> Reading:
            if self._readings != number_of_reading:
                raise RuntimeError("cannot look at a window that is over: its rows are those of a later one")
            return self._reading

        def measured_of(number: int) -> Measured | None:
            pool, rows = config.pools[number], reading().rows(number)
            border_ms = whole_before(rows, number, now_ms, int(settle_ms[number]))
            if border_ms is not None:
                border_ms = min(border_ms, int(before_ms[number]))
            found = newest(rows, number, pool, config, border_ms, self._intervals_ms.get(pool.key))
            if found is not None and pool.key in automatic:
                self._intervals_ms[pool.key] = found.bucket_ms
            return found

        def known(number: int, found: Whole | None) -> Whole | None:
            newest_ms = int(before_ms[number] + settle_ms[number])
            return None if found is None else replace(found, known_ms=float(newest_ms + bucket_ms))

        def whole_of(number: int) -> Whole | None:
            return known(number, whole(*reading().own(number), int(before_ms[number]), bucket_ms))

        def each(key: PoolKey, instances: Collection[str]) -> dict[str, Whole]:
            number = numbers[key]
            rows = {name: reading().own_instance(number, name) for name in instances}
            found = {name: alone(*one, int(before_ms[number]), bucket_ms) for name, one in rows.items() if one}
            return {name: with_end for name, one in found.items() if (with_end := known(number, one)) is not None}

        settles = dict(zip(numbers, settle_ms.tolist(), strict=True))
        measured = {key: number for key, number in numbers.items() if key in judged}
        return Window(OnDemand(measured, measured_of), OnDemand(numbers, whole_of), settles, each)
