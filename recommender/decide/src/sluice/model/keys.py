"""Keys of decisions: pools and subsets."""

from __future__ import annotations

from typing import Literal, NamedTuple

Side = Literal["server", "client", "consumer"]


class PoolKey(NamedTuple):
    """A soft resource that bounds concurrency. server: threads that serve requests; consumer: threads that process
    messages; client: connections to `peer`, which is empty for the other sides."""

    service: str
    side: Side
    peer: str

    def __str__(self) -> str:
        return f"{self.service}/{self.side}" + (f"/{self.peer}" if self.peer else "")


class SubsetKey(NamedTuple):
    """One container of a service, and a service that it calls."""

    upstream: str
    instance: str
    downstream: str

    def __str__(self) -> str:
        return f"{self.upstream}/{self.instance} to {self.downstream}"
