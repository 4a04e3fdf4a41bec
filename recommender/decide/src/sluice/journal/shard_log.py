"""One shard of a decider: its inputs, and one commit a period."""

from __future__ import annotations

import logging
from typing import Any, Generic

from sluice.journal.broker import Reader, Record, Transactions
from sluice.journal.codec import Commit, HasReceived, Input, Received, UnreadableError, Write
from sluice.journal.membership import Membership
from sluice.journal.names import shard_name
from sluice.journal.repeats import Repeats
from sluice.journal.shard import AbortedError, FencedError
from sluice.model.problems import Problems

log = logging.getLogger(__name__)

# At most 5 s between heartbeats, with a period every half second or more often.
BEAT_S = 4.5


class ShardLog(Generic[Received, Commit]):
    """For one thread. `acquisition.take` makes it; close it when the decider leaves the shard for any reason."""

    def __init__(
        self,
        shard: int,
        membership: Membership[Any, Received, Commit],
        transactions: Transactions,
        arrivals: Reader,
        repeats: Repeats,
    ) -> None:
        """repeats: of reports before the start of `arrivals`."""
        self.shard = shard
        self.left_out = 0
        """Records that could not be read or written; each is logged once."""
        self._me, self._topics = membership.me, membership.topics
        self._codec, self._clock = membership.codec, membership.clock
        self._transactions, self._arrivals, self._repeats = transactions, arrivals, repeats
        self._observed: dict[str, Any] = {}
        self._reports: list[tuple[int, Any]] = []
        self._committed = arrivals.position(self._topics.reports)
        self._beaten: float | None = None
        self._over = False
        self._problems = Problems()

    def received(self, timeout_s: float = 0.0) -> Received:
        """Inputs since the last commit; waits for some up to `timeout_s`. Raises HungError as a commit does."""
        self.read(timeout_s)
        offset = max(self._committed, self._arrivals.position(self._topics.reports))
        return self._codec.received(dict(self._observed), [report for _, report in self._reports], offset)

    def commit(self, commit: Commit) -> bool:
        """Writes one transaction and returns True; returns False where nothing changed and no heartbeat is due.

        Raises AbortedError, FencedError and HungError; each tells the next step.
        """
        changed: list[Write] = []
        for write in self._codec.writes(commit, self._topics):
            if isinstance(write, Write):
                changed.append(write)
            else:
                self.left_out += 1
                self._problems.failed(str(write).partition(":")[0], write)
        now = self._clock()
        beaten = self._beaten is not None and now - self._beaten < BEAT_S
        offset = commit.received.offset if commit.uses_inputs else self._committed
        if not changed and (beaten or not commit.uses_inputs) and offset == self._committed:
            return False
        heartbeat = self._codec.heartbeat(self.shard, self._me, commit)
        changed.append(Write(self._topics.decisions, shard_name(self.shard), heartbeat))
        self._write(changed, offset)
        if not commit.uses_inputs:
            return True
        self._beaten = now
        self._used(commit.received)
        return True

    def close(self) -> None:
        """Ends reading and writing."""
        self._arrivals.close()
        self._transactions.close()

    def read(self, timeout_s: float) -> None:
        for record in self._arrivals.read(timeout_s):
            if record.topic == self._topics.observed:
                self._size(record)
            elif (arrived := self._arrived(record)) is not None:
                value, sender = arrived
                if sender is None or not self._repeats.report(record.offset, sender):
                    self._reports.append((record.offset, value))

    def observed(self) -> dict[str, Any]:
        """The sizes read so far, for a shard that is being taken: `received` does not return them again."""
        sizes, self._observed = self._observed, {}
        return sizes

    def _size(self, record: Record) -> None:
        if record.value is None:
            self._observed.pop(record.key, None)
        elif (arrived := self._arrived(record)) is not None:
            value, sender = arrived
            if sender is None or not self._repeats.size(sender):
                self._observed[record.key] = value

    def _arrived(self, record: Record) -> Input | None:
        """The input of a record; None where it cannot be read, or is not for deciders."""
        try:
            if record.topic == self._topics.observed:
                return self._codec.observed(record)
            return self._codec.report(record)
        except UnreadableError as cause:
            self.left_out += 1
            log.error("skipped a record of the journal: %s", cause)
            return None

    def _write(self, changed: list[Write], offset: int) -> None:
        """Writes one transaction. It always has the offset: with it the group checks who owns the shard."""
        if self._over:
            raise FencedError(f"write to shard {self.shard}: this decider gave it up")
        self._over = True
        try:
            self._transactions.begin()
            for write in changed:
                self._transactions.send(*write)
            self._transactions.send_offset(offset)
            self._transactions.commit()
        except AbortedError:
            self._transactions.abort()
            self._over = False
            raise
        self._over = False

    def _used(self, received: HasReceived) -> None:
        self._committed = received.offset
        self._reports = [(offset, report) for offset, report in self._reports if offset >= received.offset]
        for name, size in received.observed.items():
            if self._observed.get(name) is size:
                del self._observed[name]
