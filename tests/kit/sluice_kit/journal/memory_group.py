"""A consumer group in memory, by the rules of Kafka's classic protocol with cooperative assignment.

A shard moves when its owner has released it: when the owner learns of the move, or when the group removes a silent
owner. Each change of the members begins a new generation. A member that has not learnt of it cannot commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from sluice.journal.broker import Group
from sluice.journal.shard import AbortedError, FencedError


class Members:
    def __init__(self, shards: int) -> None:
        self.shards = shards
        self.generation = 0
        self._names = count()
        self._members: dict[int, int] = {}
        """The generation that each member learnt of last."""
        self._owners: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._members)

    def join(self) -> int:
        member = next(self._names)
        self._members[member] = -1
        self.generation += 1
        return member

    def leave(self, member: int) -> None:
        """Removes a member that leaves, or that is silent for the session timeout."""
        if self._members.pop(member, None) is not None:
            self._owners = {shard: owner for shard, owner in self._owners.items() if owner != member}
            self.generation += 1

    def sync(self, member: int) -> frozenset[int] | None:
        """The member learns of the generation. Returns its shards; None for a removed member."""
        if member not in self._members:
            return None
        self._members[member] = self.generation
        wanted = self._wanted()
        for shard in range(self.shards):
            if self._owners.get(shard) == member != wanted[shard]:
                del self._owners[shard]
            elif shard not in self._owners and wanted[shard] == member:
                self._owners[shard] = member
        return frozenset(shard for shard, owner in self._owners.items() if owner == member)

    def check(self, member: int) -> None:
        if member not in self._members:
            raise FencedError("commit: this decider left the group")
        if self._members[member] != self.generation:
            raise AbortedError("commit: the group has a new generation")

    def _wanted(self) -> dict[int, int]:
        """The owner of each shard: numbers differ by at most one, and owners keep shards as far as that allows."""
        left = {member: -(-self.shards // len(self._members)) for member in sorted(self._members)}
        wanted: dict[int, int] = {}
        for shard, owner in sorted(self._owners.items()):
            if left.get(owner, 0) > 0:
                wanted[shard], left[owner] = owner, left[owner] - 1
        for shard in range(self.shards):
            if shard not in wanted:
                member = max(left, key=lambda member: left[member])
                wanted[shard], left[member] = member, left[member] - 1
        return wanted


class MemoryGroup(Group):
    def __init__(self, members: Members, offsets: Mapping[int, int], called: Callable[[str], None]) -> None:
        self._members, self._offsets, self._called = members, offsets, called
        self.member = members.join()

    def poll(self, timeout_s: float) -> frozenset[int]:
        self._called("poll")
        mine = self._members.sync(self.member)
        if mine is None:
            self.member = self._members.join()
            return frozenset()
        return mine

    def committed(self, shard: int) -> int:
        self._called("committed")
        return self._offsets.get(shard, 0)

    def check(self) -> None:
        self._members.check(self.member)

    def close(self) -> None:
        self._members.leave(self.member)
