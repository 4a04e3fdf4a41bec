"""The decider's loop: a period and a commit for each shard that it owns."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sluice.engine.codec import DeciderLog, DeciderShards
from sluice.engine.counts import EngineMetrics
from sluice.engine.product import Product
from sluice.engine.shard import Shard
from sluice.journal.shard import AbortedError, FencedError, HungError, OlderError, PartitionsError
from sluice.journal.shard_log import BEAT_S
from sluice.model.problems import Problems

log = logging.getLogger(__name__)

# A period that takes longer than configured is stretched by this factor, to leave time for other work. A lease lasts at
# least this many periods, or heartbeats.
BREATH, LEASE_PERIODS = 1.25, 3
# Interval of checks for inputs and changes of shards.
LOOK_S = 0.1

Clock = Callable[[], int]
"""Unix time in milliseconds."""


class LoopConfig(Protocol):
    """As `EngineSection`; `of_shard`: the part of one group."""

    @property
    def period(self) -> float: ...

    @property
    def lease(self) -> float: ...

    @property
    def groups(self) -> Sequence[str]: ...

    @property
    def generation(self) -> int: ...

    def of_shard(self, number: int) -> Any: ...


@dataclass
class Loop:
    """For one thread. shards: of the journal; a configuration of another generation takes all of them anew."""

    config: LoopConfig
    shards: DeciderShards
    products: Sequence[Product]
    clock: Clock
    problems: Problems = field(default_factory=Problems)
    counts: EngineMetrics = field(default_factory=EngineMetrics)
    progress: Callable[[], None] = lambda: None
    """Called several times a second between periods, and after each."""
    elapsed_s: Callable[[], float] = time.monotonic
    """Only grows. A period's duration goes by it: the clock may be set meanwhile."""
    owned: dict[int, Shard] = field(default_factory=dict)
    next_config: LoopConfig | None = None
    """The configuration from the next period on."""

    def __post_init__(self) -> None:
        self.period_ms = float(self.config.period)
        """The present period: as configured, or stretched."""

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Runs until `stop`; `wake` starts the next period at once."""
        while not stop.is_set():
            wake.clear()
            begun_s = self.elapsed_s()
            self.periods()
            spent_ms = 1000 * (self.elapsed_s() - begun_s)
            self._stretch(spent_ms)
            self._wait(max(0.0, self.period_ms - spent_ms) / 1000, stop, wake)

    def periods(self) -> None:
        """One period of each shard. Never raises: it logs each cause of failure once, and leases end meanwhile."""
        if self.next_config is not None:
            self._take_up(self.next_config)
        self.own()
        for number, shard_log in self.shards.owned.items():
            self._period(number, shard_log, self.owned[number])
        self.counts.owns(len(self.owned))
        self.progress()
        for product in self.products:
            product.measure([shard.parts[product.name] for shard in self.owned.values()])

    def own(self, timeout_s: float = 0.0) -> None:
        """Takes and leaves shards as the group assigns them."""
        problems = self.problems
        try:
            change = self.shards.poll(timeout_s)
        except (OlderError, PartitionsError, HungError) as cause:
            problems.failed("take shards", cause)
            self.owned = {number: self.owned[number] for number in self.shards.owned}
            return
        problems.succeeded("take shards")
        for number in change.left:
            self.owned.pop(number, None)
        if change.taken is not None:
            taken, values = change.taken
            config = self.config.of_shard(taken.shard)
            self.owned[taken.shard] = Shard(self.products, config, values, self.clock())

    def _take_up(self, config: LoopConfig) -> None:
        """Uses a new configuration. With another generation, or number of groups, takes the shards anew."""
        last, self.config, self.next_config = self.config, config, None
        if (last.generation, len(last.groups)) != (config.generation, len(config.groups)):
            self.shards.join_as(len(config.groups), config.generation)
            self.owned = {}
        for number, shard in self.owned.items():
            shard.configure(config.of_shard(number))

    def _period(self, number: int, shard_log: DeciderLog, shard: Shard) -> None:
        problems, what = self.problems, f"control period of shard {number}"
        try:
            commit = shard.period(shard_log.received(), self.clock(), self._lease_ms())
        except HungError as cause:
            self._leave(number, cause)
            return
        except Exception as cause:
            problems.failed(what, cause)
            return
        if commit.failure is None:
            problems.succeeded(what)
        else:
            problems.failed(what, commit.failure)
        try:
            written = shard_log.commit(commit)
        except AbortedError as cause:
            problems.failed(f"commit of shard {number}", cause)
            shard.aborted()
        except (FencedError, HungError) as cause:
            self._leave(number, cause)
        else:
            problems.succeeded(f"commit of shard {number}")
            shard.committed(commit, written)
            if commit.failure is None:
                self.counts.committed(commit.heartbeat)

    def _leave(self, number: int, cause: Exception) -> None:
        log.error("gave up shard %d: %s: %s", number, type(cause).__name__, cause)
        self.shards.leave(number)
        self.owned.pop(number, None)

    def _lease_ms(self) -> int:
        return int(max(self.config.lease, LEASE_PERIODS * max(self.period_ms, 1_000 * BEAT_S)))

    def _stretch(self, spent_ms: float) -> None:
        configured, last = float(self.config.period), self.period_ms
        self.period_ms = max(configured, BREATH * spent_ms)
        self.counts.period(spent_ms, configured)
        if not 2 / 3 < self.period_ms / last < 3 / 2:
            text = "a period took %.1f s: periods now begin every %.1f s (configured: %.1f s)"
            log.info(text, spent_ms / 1e3, self.period_ms / 1e3, configured / 1e3)

    def _wait(self, wait_s: float, stop: threading.Event, wake: threading.Event) -> None:
        """Waits for the next period. A new shard, a pause, a resume, a scaling notification, and the end of a step that
        a notification began, begin it at once."""
        end, known = time.monotonic() + wait_s, set(self.owned)
        while (left_s := end - time.monotonic()) > 0 and not stop.is_set() and not wake.is_set():
            self.own(min(LOOK_S, left_s))
            self.progress()
            if self.hear() or self.owned.keys() - known:
                return

    def hear(self) -> bool:
        urgent = False
        for number, shard_log in self.shards.owned.items():
            try:
                urgent |= self.owned[number].hear(shard_log.received(), self.clock())
            except HungError as cause:
                self._leave(number, cause)
        return urgent
