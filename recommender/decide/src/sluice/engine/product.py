"""The interface between the engine and a product (pools, subsets, tuning).

The engine runs periods and leases on shards and knows products by this interface only. A product restores its part of a
shard from the journal, hears inputs, proposes records, and learns whether they were committed. To add one: a folder of
its own, and its line in `decider/products.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from sluice.engine.records import Heartbeat, Received
from sluice.journal.broker import Record
from sluice.journal.codec import Input, Write
from sluice.journal.names import Topics


class ProductCodec(Protocol):
    """Records of one product in the journal. Stateless."""

    def owns(self, key: str) -> bool:
        """Whether a record with this key is the product's. The first product that owns a key has it."""

    def part(
        self, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, Any]
    ) -> tuple[Any, int]:
        """The product's part of a shard from its own records, and how many could not be read; these are logged."""

    def observed(self, record: Record) -> Input:
        """The value of a record of the topic `observed`. Raises UnreadableError."""

    def report(self, record: Record) -> Input | None:
        """The input of a record of the topic `reports`; None: not for deciders. Raises UnreadableError."""

    def writes(self, part: Any, topics: Topics) -> Iterator[Write | ValueError]:
        """Writes in order. A ValueError stands for a record that cannot be written."""


class Proposal(NamedTuple):
    """records: the product's part of the commit; None without any. not_renewed: as in `Heartbeat`."""

    records: Any | None = None
    not_renewed: Sequence[Any] = ()


class ProductShard(Protocol):
    """A product's state on one shard. The engine calls `propose`, then commits, then calls `committed` or `aborted`.
    Inputs hold whatever the outcome of a commit."""

    @property
    def independent(self) -> bool:
        """Whether its records need no lease and may rest on inputs that come again: they are committed also where
        another product fails."""

    def configure(self, config: Any) -> None:
        """Sets the configuration of the shard from the next period on."""

    def hear(self, received: Received, now_ms: int) -> bool:
        """Takes inputs between two periods. True: a period should run now."""

    def propose(self, received: Received, now_ms: int) -> Proposal:
        """The product's records of this period. Raises an error where no lease may be renewed, of any product."""

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        """The period was committed. written: False where nothing changed and no heartbeat was due."""

    def aborted(self) -> None:
        """The transaction was aborted: nothing of the proposal holds."""


class Takeover(NamedTuple):
    """The data from which a product restores its part of a shard. part: as `ProductCodec.part` returns it. others: the
    parts of products restored before, by name."""

    config: Any
    part: Any
    heartbeat: Any | None
    now_ms: int
    others: Mapping[str, ProductShard]


class Product(Protocol):
    """One for each product in a decider, with the resources that its shards share."""

    @property
    def name(self) -> str: ...

    def start(self, config: Any) -> None:
        """Prepares resources before the first period."""

    def restore(self, takeover: Takeover) -> ProductShard: ...

    def measure(self, shards: Iterable[ProductShard]) -> None:
        """Sets metrics from the shards that this decider owns."""

    def close(self) -> None:
        """Ends workers. Unfinished work is lost."""
