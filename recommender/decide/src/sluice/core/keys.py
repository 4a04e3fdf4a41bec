"""What a decision is about."""

from __future__ import annotations

from typing import Literal, NamedTuple

Side = Literal["server", "client"]


class PoolKey(NamedTuple):
    """A soft resource: where concurrency is bounded. `peer` is empty for a server pool."""

    service: str
    side: Side
    peer: str

    def __str__(self) -> str:
        return f"{self.service}/{self.side}" + (f"/{self.peer}" if self.peer else "")
