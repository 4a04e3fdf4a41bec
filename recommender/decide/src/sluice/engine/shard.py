"""One shard: the parts of all products, and their common control period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sluice.engine.product import Product, ProductShard, Proposal, Takeover
from sluice.engine.records import Commit, Heartbeat, Received, ShardValues
from sluice.journal.shard import HungError


class Shard:
    """Call `period`, then commit, then `committed` or `aborted`."""

    def __init__(self, products: Sequence[Product], config: Any, values: ShardValues, now_ms: int) -> None:
        self.parts: dict[str, ProductShard] = {}
        for product in products:
            takeover = Takeover(config, values.parts.get(product.name), values.heartbeat, now_ms, dict(self.parts))
            self.parts[product.name] = product.restore(takeover)
        self._beat = values.beat

    def configure(self, config: Any) -> None:
        for part in self.parts.values():
            part.configure(config)

    def hear(self, received: Received, now_ms: int) -> bool:
        """Takes inputs between two periods. True: a period should run now."""
        urgent = [part.hear(received, now_ms) for part in self.parts.values()]
        return any(urgent)

    def period(self, received: Received, now_ms: int, lease_ms: int) -> Commit:
        """The records of all products. Where one fails: those of independent products, with `failure`; raises that
        error where they have none, or where the shard never had a heartbeat. Leases then end as they would."""
        proposals: dict[str, Proposal] = {}
        failure: Exception | None = None
        try:
            for name, part in self.parts.items():
                if failure is not None and not part.independent:
                    continue
                try:
                    proposals[name] = part.propose(received, now_ms)
                except HungError:
                    raise
                except Exception as cause:
                    failure = failure or cause
        except BaseException:
            self._abort(proposals)
            raise
        if failure is not None:
            return self._independent(proposals, failure, received, now_ms)
        not_renewed = [entry for proposal in proposals.values() for entry in proposal.not_renewed]
        return Commit(received, Heartbeat(now_ms, lease_ms, not_renewed), _records(proposals))

    def committed(self, commit: Commit, written: bool) -> None:
        """The period was committed, or had nothing to write."""
        if commit.failure is not None:
            for name in commit.parts:
                self.parts[name].committed(commit.heartbeat, written)
            return
        if written:
            self._beat = commit.heartbeat
        for part in self.parts.values():
            part.committed(commit.heartbeat, written)

    def aborted(self) -> None:
        self._abort(self.parts)

    def _independent(
        self, proposals: Mapping[str, Proposal], failure: Exception, received: Received, now_ms: int
    ) -> Commit:
        self._abort(name for name in proposals if not self.parts[name].independent)
        records = _records({name: one for name, one in proposals.items() if self.parts[name].independent})
        if not records or self._beat is None:
            self._abort(name for name in proposals if self.parts[name].independent)
            raise failure
        return Commit(received, self._beat.rest(now_ms), records, failure)

    def _abort(self, names: Iterable[str]) -> None:
        for name in names:
            self.parts[name].aborted()


def _records(proposals: Mapping[str, Proposal]) -> dict[str, Any]:
    return {name: proposal.records for name, proposal in proposals.items() if proposal.records is not None}
