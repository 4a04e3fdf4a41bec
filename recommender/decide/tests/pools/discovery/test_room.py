"""Pools that fit in a decider's memory."""

from sluice.pools.discovery.room import MemoryRoom


class Shard:
    """Of a decider."""


def test_pools_of_all_shards_share_the_memory_until_a_shard_is_gone() -> None:
    room, one, other = MemoryRoom(2**30), Shard(), Shard()
    assert (room.most, str(room)) == (3_233, "3,233 pools fit in 1,024 MiB")
    room.take(one, 3_000)
    assert (room.beside(one), room.beside(other)) == (3_233, 233)
    room.take(one, 4_000)
    assert room.beside(other) == 0, "the configured pools are taken whatever they need"
    del one
    assert room.beside(other) == 3_233


def test_too_little_for_a_decider_has_room_for_no_pool() -> None:
    assert MemoryRoom(300_000_000).most == 0
