"""Keys of decisions: pools and subsets."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple
from zlib import crc32

Side = Literal["server", "client", "consumer"]


class PoolKey(NamedTuple):
    """A soft resource that bounds concurrency. server: threads that serve requests; consumer: threads that process
    messages; client: connections to `peer`, which is empty for the other sides."""

    service: str
    side: Side
    peer: str

    def __str__(self) -> str:
        return f"{self.service}/{self.side}" + (f"/{self.peer}" if self.peer else "")


@lru_cache(maxsize=100_000)
def number_of(key: PoolKey) -> int:
    """A number that spreads pools evenly: below 2^32, and the same in every process and period."""
    return crc32(repr(tuple(key)).encode())


class SubsetKey(NamedTuple):
    """One container of a service, and a service that it calls."""

    upstream: str
    instance: str
    downstream: str

    def __str__(self) -> str:
        return f"{self.upstream}/{self.instance} to {self.downstream}"
