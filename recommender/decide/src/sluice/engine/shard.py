"""One shard: the parts of all products, and their common control period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sluice.engine.product import Product, ProductShard, Proposal, Takeover
from sluice.engine.records import Commit, Heartbeat, Received, ShardValues


class Shard:
    """Call `period`, then commit, then `committed` or `aborted`."""

    def __init__(self, products: Sequence[Product], config: Any, values: ShardValues, now_ms: int) -> None:
        self.parts: dict[str, ProductShard] = {}
        for product in products:
            takeover = Takeover(config, values.parts.get(product.name), values.heartbeat, now_ms, dict(self.parts))
            self.parts[product.name] = product.restore(takeover)

    def configure(self, config: Any) -> None:
        for part in self.parts.values():
            part.configure(config)

    def hear(self, received: Received, now_ms: int) -> bool:
        """Takes inputs between two periods. True: a period should run now."""
        urgent = [part.hear(received, now_ms) for part in self.parts.values()]
        return any(urgent)

    def period(self, received: Received, now_ms: int, lease_ms: int) -> Commit:
        """The records of all products. Raises a product's error: then nothing is committed, no lease is renewed, and
        leases end."""
        proposals: dict[str, Proposal] = {}
        try:
            for name, part in self.parts.items():
                proposals[name] = part.propose(received, now_ms)
        except BaseException:
            for name in proposals:
                self.parts[name].aborted()
            raise
        not_renewed = [entry for proposal in proposals.values() for entry in proposal.not_renewed]
        records = {name: proposal.records for name, proposal in proposals.items() if proposal.records is not None}
        return Commit(received, Heartbeat(now_ms, lease_ms, not_renewed), records)

    def committed(self, commit: Commit, written: bool) -> None:
        """The period was committed, or had nothing to write."""
        for part in self.parts.values():
            part.committed(commit.heartbeat, written)

    def aborted(self) -> None:
        for part in self.parts.values():
            part.aborted()
