"""A group that shares shards out, in memory, by the rules of Kafka's classic protocol with cooperative assignment.

A shard goes from one member to another when the one has let go of it, which it does as it hears of it, or when it was
put out of the group for silence. Each change of who is a member begins a new generation; who has not heard of it yet
cannot commit.
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
        """By member the generation that it heard of last."""
        self._owners: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._members)

    def join(self) -> int:
        member = next(self._names)
        self._members[member] = -1
        self.generation += 1
        return member

    def leave(self, member: int) -> None:
        """Or put out for silence, after the session timeout."""
        if self._members.pop(member, None) is not None:
            self._owners = {shard: owner for shard, owner in self._owners.items() if owner != member}
            self.generation += 1

    def heard(self, member: int) -> frozenset[int] | None:
        """What is its own now; None for one that was put out."""
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
            raise FencedError("commit: no member of the group any more")
        if self._members[member] != self.generation:
            raise AbortedError("commit: the group has a new generation")

    def _wanted(self) -> dict[int, int]:
        """Who is to have each shard: as even as can be, and those that have one keep it where that is even."""
        left = {member: -(-self.shards // len(self._members)) for member in sorted(self._members)}
        wanted: dict[int, int] = {}
        for shard, owner in sorted(self._owners.items()):
            if left.get(owner, 0) > 0:
                wanted[shard], left[owner] = owner, left[owner] - 1
        for shard in range(self.shards):
            if shard not in wanted:
                member = max(left, key=lambda each: left[each])
                wanted[shard], left[member] = member, left[member] - 1
        return wanted


class MemoryGroup(Group):
    def __init__(self, members: Members, offsets: Mapping[int, int], called: Callable[[str], None]) -> None:
        self._members, self._offsets, self._called = members, offsets, called
        self.member = members.join()

    def poll(self, timeout_s: float) -> frozenset[int]:
        self._called("poll")
        mine = self._members.heard(self.member)
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
