"""The names of pools' records in the journal: collector/topics.yaml."""

from __future__ import annotations

from typing import cast, get_args
from urllib.parse import quote, unquote

from sluice.model.keys import PoolKey, Side
from sluice.pools.v1 import pool_pb2
from sluice.pools.v1.pool_pb2 import Pool

_NUMBERS: dict[Side, pool_pb2.Side.ValueType] = {
    "server": pool_pb2.SIDE_SERVER,
    "client": pool_pb2.SIDE_CLIENT,
    "consumer": pool_pb2.SIDE_CONSUMER,
}
_SIDES: dict[int, Side] = {number: side for side, number in _NUMBERS.items()}
POOL = "pool/"
CANDIDATE = "candidate/"


def pool_name(key: PoolKey, word: str = POOL) -> str:
    """word: the kind of record, with a slash behind it."""
    return word + "/".join(quote(name, safe="") for name in key)


def pool_of(name: str, word: str = POOL) -> PoolKey:
    """The inverse of `pool_name`; ValueError for any other text."""
    names = name.removeprefix(word).split("/")
    if name.startswith(word) and len(names) == 3:
        service, side, peer = (unquote(name) for name in names)
        if service and side in get_args(Side) and (side == "client") == bool(peer):
            return PoolKey(service, cast(Side, side), peer)
    raise ValueError(f"read the journal: a key {name!r} is not {word}SERVICE/SIDE/PEER")


def key_of(pool: Pool) -> PoolKey:
    """The key of a pool in a message; ValueError where the side is none."""
    if pool.side not in _SIDES:
        raise ValueError(f"name a pool of {pool.service}: its side is {pool.side}; legal: {', '.join(get_args(Side))}")
    return PoolKey(pool.service, _SIDES[pool.side], pool.peer)


def message_of(key: PoolKey) -> Pool:
    return Pool(service=key.service, side=_NUMBERS[key.side], peer=key.peer)
