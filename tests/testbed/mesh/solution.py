"""Which container holds connections to which, with what weights, as ``./sluice subsets solve -o json`` prints it."""

from __future__ import annotations

from pydantic import Field

from .application import Part


class Connection(Part):
    from_: str = Field(alias="from")
    to: str
    weight: float = Field(default=1.0, ge=0, le=1e9)
    """Share of ``from_``'s calls, relative to its other connections of the pair; 0 carries none."""


class Pair(Part):
    upstream: str
    downstream: str
    connections: list[Connection]


class Solution(Part):
    strategy: str = ""
    pairs: list[Pair]

    @property
    def connections(self) -> int:
        return sum(len(pair.connections) for pair in self.pairs)
