"""The shards that one decider owns: takes those that its group assigns, leaves those that it revokes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic

from sluice.journal.acquisition import RESTORE_S, check_generation, check_partitions, take
from sluice.journal.broker import Broker, Group
from sluice.journal.codec import Codec, Commit, Received, Values
from sluice.journal.membership import Membership
from sluice.journal.names import Topics
from sluice.journal.shard import AbortedError, FencedError, HungError, Identity, NotThereError, OlderError
from sluice.journal.shard_log import ShardLog
from sluice.model.problems import Problems

log = logging.getLogger(__name__)

# Wait before a lost shard is taken again: the group must have confirmed it, and heartbeats are a second apart.
# Otherwise two deciders would fence each other in turns.
AGAIN_S = 3.0
# How often a long period reports progress to the group.
ALIVE_S = 1.0


@dataclass(frozen=True)
class Rebalance(Generic[Values, Received, Commit]):
    """left: shards whose states are invalid here from now on. taken: at most one shard a call, with its values."""

    left: tuple[int, ...]
    taken: tuple[ShardLog[Received, Commit], Values] | None


class Shards(Generic[Values, Received, Commit]):
    """For one thread, which calls `poll` once a period, between commits."""

    def __init__(
        self,
        broker: Broker,
        topics: Topics,
        me: Identity,
        codec: Codec[Values, Received, Commit],
        restore_s: float = RESTORE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.membership = Membership(broker, topics, me, codec, clock)
        self._restore_s, self._clock = restore_s, clock
        self._group: Group | None = None
        self._owned: dict[int, ShardLog[Received, Commit]] = {}
        self._not_before: dict[int, float] = {}
        self._polled = clock()
        self._problems = Problems()

    @property
    def owned(self) -> dict[int, ShardLog[Received, Commit]]:
        return dict(self._owned)

    def poll(self, timeout_s: float) -> Rebalance[Values, Received, Commit]:
        """Waits for up to `timeout_s` for changes of the group.

        Raises OlderError after leaving the group: the configuration must be read again. Raises PartitionsError where
        the topics are not as configured.
        """
        try:
            group = self._group = self._group or self._join()
            given = group.poll(timeout_s)
        except HungError as cause:
            self._problems.failed("ask the group", cause)
            return Rebalance((), None)
        self._problems.succeeded("ask the group")
        left = tuple(shard for shard in self._owned if shard not in given)
        for shard in left:
            self._owned.pop(shard).close()
        now = self._clock()
        for shard in sorted(given - self._owned.keys()):
            if self._not_before.get(shard, now) <= now:
                return Rebalance(left, self._take(group, shard))
        return Rebalance(left, None)

    def alive(self) -> None:
        """Reports progress within a period, which may take longer than the group waits for the next `poll`. So only a
        decider that hangs loses its shards. `poll` later handles changes of the group; until the next owner begins,
        this one still writes to shards that it lost."""
        if self._group is None or self._clock() - self._polled < ALIVE_S:
            return
        self._polled = self._clock()
        with suppress(HungError):
            self._group.poll(0.0)

    def leave(self, shard: int) -> None:
        """After a FencedError or a HungError. Takes the shard again later, if the group still assigns it."""
        self._not_before[shard] = self._clock() + AGAIN_S
        if (gone := self._owned.pop(shard, None)) is not None:
            gone.close()

    def join_as(self, shards: int, generation: int) -> None:
        """Releases all shards; the next `poll` joins again, with a newer configuration."""
        self.close()
        me = replace(self.membership.me, shards=shards, generation=generation)
        self.membership = replace(self.membership, me=me)

    def close(self) -> None:
        """Releases all shards at once."""
        for shard in list(self._owned):
            self._owned.pop(shard).close()
        if self._group is not None:
            self._group.close()
            self._group = None

    def _join(self) -> Group:
        broker, topics, me = self.membership.broker, self.membership.topics, self.membership.me
        check_partitions(broker, topics, me.shards)
        check_generation(broker, topics, me, self.membership.codec)
        return broker.group()

    def _take(self, group: Group, shard: int) -> tuple[ShardLog[Received, Commit], Values] | None:
        what = f"take shard {shard}"
        try:
            taken = take(self.membership, group, shard, self._restore_s)
        except OlderError:
            self.close()
            raise
        except (NotThereError, AbortedError, FencedError, HungError) as cause:
            self._problems.failed(what, cause)
            self._not_before[shard] = self._clock() + AGAIN_S
            return None
        self._problems.succeeded(what)
        log.info("shard %d taken: %s", shard, taken[1].summary())
        self._owned[shard] = taken[0]
        return taken
