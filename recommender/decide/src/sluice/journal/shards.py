"""The shards that one decider owns: taken as its group gives them, left as it takes them away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic

from sluice.journal.broker import Broker, Group
from sluice.journal.codec import Codec, Commit, Found, Received
from sluice.journal.names import Topics
from sluice.journal.shard import AbortedError, FencedError, HungError, Identity, NotThereError, OlderError
from sluice.journal.shard_log import ShardLog
from sluice.journal.taking import RESTORE_S, check_generation, check_partitions, take
from sluice.model.problems import Problems

log = logging.getLogger(__name__)

# A shard that was lost is not taken again before this decider has heard from its group whether it still is its own:
# its heartbeats are a second apart. Else two would fence each other off in turns.
AGAIN_S = 3.0
# The group is told as often as this that a long period gets on.
ALIVE_S = 1.0


@dataclass(frozen=True)
class Change(Generic[Found, Received, Commit]):
    """left: their states are nobody's any more here. taken: at most one a call, with what it holds."""

    left: tuple[int, ...]
    taken: tuple[ShardLog[Received, Commit], Found] | None


class Shards(Generic[Found, Received, Commit]):
    """For one thread, which calls `poll` once a period, between commits."""

    def __init__(
        self,
        broker: Broker,
        topics: Topics,
        me: Identity,
        codec: Codec[Found, Received, Commit],
        restore_s: float = RESTORE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._broker, self._topics, self._me, self._codec = broker, topics, me, codec
        self._restore_s, self._clock = restore_s, clock
        self._group: Group | None = None
        self._owned: dict[int, ShardLog[Received, Commit]] = {}
        self._not_before: dict[int, float] = {}
        self._polled = clock()
        self._problems = Problems()

    @property
    def owned(self) -> dict[int, ShardLog[Received, Commit]]:
        return dict(self._owned)

    def poll(self, timeout_s: float) -> Change[Found, Received, Commit]:
        """Waits for up to `timeout_s` for what the group says.

        Raises OlderError, having left the group: the configuration has to be read again. PartitionsError: the topics
        are not as configured.
        """
        try:
            group = self._group = self._group or self._join()
            given = group.poll(timeout_s)
        except HungError as cause:
            self._problems.failed("ask the group", cause)
            return Change((), None)
        self._problems.succeeded("ask the group")
        left = tuple(shard for shard in self._owned if shard not in given)
        for shard in left:
            self._owned.pop(shard).close()
        now = self._clock()
        for shard in sorted(given - self._owned.keys()):
            if self._not_before.get(shard, now) <= now:
                return Change(left, self._take(group, shard))
        return Change(left, None)

    def alive(self) -> None:
        """To be called as a period gets on, which may take longer than the group waits for the next `poll`: so that one
        gives its shards up only where it hangs. What the group says meanwhile is taken up by `poll`; what it has given
        away is written until its next owner begins to."""
        if self._group is None or self._clock() - self._polled < ALIVE_S:
            return
        self._polled = self._clock()
        with suppress(HungError):
            self._group.poll(0.0)

    def leave(self, shard: int) -> None:
        """After a FencedError or a HungError. It is taken again later, if the group still says so."""
        self._not_before[shard] = self._clock() + AGAIN_S
        if (gone := self._owned.pop(shard, None)) is not None:
            gone.close()

    def join_as(self, shards: int, generation: int) -> None:
        """Gives all shards away, and joins again with the next `poll`, by a newer configuration."""
        self.close()
        self._me = replace(self._me, shards=shards, generation=generation)

    def close(self) -> None:
        """Gives all shards away at once."""
        for shard in list(self._owned):
            self._owned.pop(shard).close()
        if self._group is not None:
            self._group.close()
            self._group = None

    def _join(self) -> Group:
        check_partitions(self._broker, self._topics, self._me.shards)
        check_generation(self._broker, self._topics, self._me, self._codec)
        return self._broker.group()

    def _take(self, group: Group, shard: int) -> tuple[ShardLog[Received, Commit], Found] | None:
        what = f"take shard {shard}"
        try:
            taken = take(self._broker, group, self._topics, shard, self._me, self._codec, self._restore_s, self._clock)
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
