"""The decider's loop: a period and a commit for each shard that it owns."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sluice.config import Config
from sluice.decider.codec import DeciderLog, DeciderShards
from sluice.engine.counts import Counts
from sluice.journal.shard import AbortedError, FencedError, HungError, OlderError, PartitionsError
from sluice.journal.shard_log import BEAT_S
from sluice.pools.period.deciding import Means
from sluice.pools.period.history import Before
from sluice.pools.period.source import Collects
from sluice.pools.product import Clock, ShardDecider

log = logging.getLogger(__name__)

# A period that takes longer than configured is stretched by this factor, to leave time for other work. A lease lasts at
# least this many periods, or heartbeats.
BREATH, LEASE_PERIODS = 1.25, 3
# Interval of checks for inputs and changes of shards.
LOOK_S = 0.1


@dataclass
class Loop:
    """For one thread. shards: of the journal; a configuration of another generation takes all of them anew."""

    config: Config
    shards: DeciderShards
    collector: Callable[[], Collects]
    clock: Clock
    means: Means = field(default_factory=Means)
    history: Callable[[], Before] | None = None
    counts: Counts = field(default_factory=Counts)
    deciders: dict[int, ShardDecider] = field(default_factory=dict)
    next_config: Config | None = None
    """The configuration from the next period on."""

    def __post_init__(self) -> None:
        self.period_ms = float(self.config.period)
        """The present period: as configured, or stretched."""

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Runs until `stop`; `wake` starts the next period at once."""
        while not stop.is_set():
            wake.clear()
            begun = self.clock()
            self.periods()
            # If the clock is set back meanwhile, this must not wait for that much longer.
            spent_ms = max(0, self.clock() - begun)
            self._stretch(spent_ms)
            self._wait(max(0.0, self.period_ms - spent_ms) / 1000, stop, wake)

    def periods(self) -> None:
        """One period of each shard. Never raises: it logs each cause of failure once, and leases end meanwhile."""
        if self.next_config is not None:
            self._take_up(self.next_config)
        self.own()
        for number, shard in self.shards.owned.items():
            self._period(number, shard, self.deciders[number])
        self.counts.looked(self.clock(), self.deciders)

    def own(self, timeout_s: float = 0.0) -> None:
        """Takes and leaves shards as the group assigns them."""
        problems = self.means.problems
        try:
            change = self.shards.poll(timeout_s)
        except (OlderError, PartitionsError, HungError) as cause:
            problems.failed("take shards", cause)
            self.deciders = {number: self.deciders[number] for number in self.shards.owned}
            return
        problems.succeeded("take shards")
        for number in change.left:
            self.deciders.pop(number, None)
        if change.taken is not None:
            taken, found = change.taken
            config = self.config.of_shard(taken.shard)
            self.deciders[taken.shard] = ShardDecider(
                config, found, self.collector(), self.clock, self.means, self.history
            )

    def _take_up(self, config: Config) -> None:
        """Uses a new configuration. With another generation, or number of groups, takes the shards anew."""
        before, self.config, self.next_config = self.config, config, None
        if (before.generation, len(before.groups)) != (config.generation, len(config.groups)):
            self.shards.join_as(len(config.groups), config.generation)
            self.deciders = {}
        for number, decider in self.deciders.items():
            decider.config = config.of_shard(number)

    def _period(self, number: int, shard: DeciderLog, decider: ShardDecider) -> None:
        problems, what = self.means.problems, f"control period of shard {number}"
        try:
            period = decider.period(shard.received(), self._lease_ms())
        except HungError as cause:
            self._leave(number, cause)
            return
        except Exception as cause:
            problems.failed(what, cause)
            return
        problems.succeeded(what)
        try:
            written = shard.commit(period.commit)
        except AbortedError as cause:
            problems.failed(f"commit of shard {number}", cause)
            decider.drop(period)
        except (FencedError, HungError) as cause:
            self._leave(number, cause)
        else:
            problems.succeeded(f"commit of shard {number}")
            entered = decider.keep(period, written)
            self.counts.decided(period, written)
            self.counts.entered(entered)
            for each in entered:
                log.warning("%s: %s: %s", each.key, each.case, each.text)

    def _leave(self, number: int, cause: Exception) -> None:
        log.error("gave up shard %d: %s: %s", number, type(cause).__name__, cause)
        self.shards.leave(number)
        self.deciders.pop(number, None)

    def _lease_ms(self) -> int:
        return int(max(self.config.lease, LEASE_PERIODS * max(self.period_ms, 1_000 * BEAT_S)))

    def _stretch(self, spent_ms: int) -> None:
        asked, before = float(self.config.period), self.period_ms
        self.period_ms = max(asked, BREATH * spent_ms)
        self.counts.period(spent_ms, asked)
        if not 2 / 3 < self.period_ms / before < 3 / 2:
            text = "a period took %.1f s for %d pools: periods now begin every %.1f s (configured: %.1f s)"
            log.info(text, spent_ms / 1e3, len(self.config.pools), self.period_ms / 1e3, asked / 1e3)

    def _wait(self, wait_s: float, stop: threading.Event, wake: threading.Event) -> None:
        """Waits for the next period. A new shard, a pause, a resume or a scaling notification begins it at once."""
        end, known = time.monotonic() + wait_s, set(self.deciders)
        while (left_s := end - time.monotonic()) > 0 and not stop.is_set() and not wake.is_set():
            self.own(min(LOOK_S, left_s))
            if self.hear() or self.deciders.keys() - known:
                return

    def hear(self) -> bool:
        urgent = False
        for number, shard in self.shards.owned.items():
            try:
                urgent |= self.deciders[number].hear(shard.received())
            except HungError as cause:
                self._leave(number, cause)
        return urgent
