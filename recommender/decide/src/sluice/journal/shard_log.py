"""One shard, as its decider has it: what came, and one commit a period."""

from __future__ import annotations

import time
from collections.abc import Callable

from sluice.journal.broker import Reader, Transactions
from sluice.journal.decode import parsed, report
from sluice.journal.encode import Write, heartbeat, writes
from sluice.journal.names import Topics
from sluice.journal.repeats import Repeats
from sluice.journal.shard import AbortedError, Commit, FencedError, Identity, Received
from sluice.model.problems import Problems
from sluice.pools.v1.log_pb2 import ObservedSize, Report
from sluice.subsets.codec import is_subsets
from sluice.tuning import codec as tuning_codec
from sluice.tuning.names import is_tuning
from sluice.tuning.v1.log_pb2 import Command

# A heartbeat at the latest 5 s after the last one, where there is a period each half second or more often.
BEAT_S = 4.5


class ShardLog:
    """For one thread. Made by `taking.take`; closed when the shard is left, for whatever reason."""

    def __init__(
        self,
        shard: int,
        me: Identity,
        topics: Topics,
        transactions: Transactions,
        arrivals: Reader,
        repeats: Repeats,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """repeats: what was told before `arrivals` begins."""
        self.shard = shard
        self.left_out = 0
        """Records that could not be read or written; each is said once."""
        self._me, self._topics, self._clock = me, topics, clock
        self._transactions, self._arrivals, self._repeats = transactions, arrivals, repeats
        self._observed: dict[str, ObservedSize] = {}
        self._reports: list[tuple[int, Report]] = []
        self._commands: list[tuple[int, Command]] = []
        self._committed = arrivals.position(topics.reports)
        self._beaten: float | None = None
        self._over = False
        self._problems = Problems()

    def received(self, timeout_s: float = 0.0) -> Received:
        """What came since; waits for it up to `timeout_s`. HungError as of a commit: the shard cannot be read."""
        self.read(timeout_s)
        offset = max(self._committed, self._arrivals.position(self._topics.reports))
        commands = [each for _, each in self._commands]
        return Received(dict(self._observed), [each for _, each in self._reports], offset, commands)

    def commit(self, commit: Commit) -> bool:
        """Writes in one transaction; whether it did: nothing changed, and no heartbeat is due, is no transaction.

        AbortedError, FencedError and HungError say what to do then.
        """
        changed: list[Write] = []
        for each in writes(commit, self._topics):
            if isinstance(each, Write):
                changed.append(each)
            else:
                self.left_out += 1
                self._problems.failed(str(each).partition(":")[0], each)
        now = self._clock()
        beaten = self._beaten is not None and now - self._beaten < BEAT_S
        if not changed and beaten and commit.received.offset == self._committed:
            return False
        changed.append(heartbeat(self.shard, self._me, self._topics, commit.heartbeat))
        self._write(changed, commit.received.offset)
        self._beaten = now
        self._used(commit.received)
        return True

    def close(self) -> None:
        """Writes nothing more."""
        self._arrivals.close()
        self._transactions.close()

    def read(self, timeout_s: float) -> None:
        for record in self._arrivals.read(timeout_s):
            if record.topic == self._topics.observed:
                self._size(record.key, record.value)
            elif is_subsets(record.key):
                continue  # deliveries: deciders do not go by them
            elif is_tuning(record.key):
                # One that is told again is known by its answer.
                if (command := tuning_codec.command(record)) is None:
                    self.left_out += 1
                else:
                    self._commands.append((record.offset, command))
            elif (told := report(record)) is None:
                self.left_out += 1
            elif not self._repeats.report(record.offset, told):
                self._reports.append((record.offset, told))

    def observed(self) -> dict[str, ObservedSize]:
        """The sizes that were read so far, as found when the shard was taken: they are not received again."""
        found, self._observed = self._observed, {}
        return found

    def _size(self, name: str, value: bytes | None) -> None:
        if value is None:
            self._observed.pop(name, None)
        elif (size := parsed(ObservedSize, name, value)) is None:
            self.left_out += 1
        elif not self._repeats.size(size):
            self._observed[name] = size

    def _write(self, changed: list[Write], offset: int) -> None:
        """The offset goes with each transaction, changed or not: by it the group says whose the shard is."""
        if self._over:
            raise FencedError(f"write to shard {self.shard}: it was given up")
        self._over = True
        try:
            self._transactions.begin()
            for each in changed:
                self._transactions.send(*each)
            self._transactions.send_offset(offset)
            self._transactions.commit()
        except AbortedError:
            self._transactions.abort()
            self._over = False
            raise
        self._over = False

    def _used(self, received: Received) -> None:
        self._committed = received.offset
        self._reports = [(offset, each) for offset, each in self._reports if offset >= received.offset]
        self._commands = [(offset, each) for offset, each in self._commands if offset >= received.offset]
        for name, size in received.observed.items():
            if self._observed.get(name) is size:
                del self._observed[name]
