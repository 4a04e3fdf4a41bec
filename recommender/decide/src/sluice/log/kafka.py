"""The log of states in a compacted topic of one partition."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.control.state_log import Counts
from sluice.core.keys import PoolKey
from sluice.log.due import Due
from sluice.log.kafka_reader import read_all
from sluice.log.kafka_sender import KafkaSender
from sluice.log.record import restored
from sluice.log.writer import Writer
from sluice.pools.policy.state import PoolState

TOPIC = "sluice_state"
RESTORE_S = 60.0


class KafkaStateLog:
    """A `StateLog`. One process writes; of two the later record counts.

    bootstrap: HOST:PORT, or several with commas between. restore_s: bound of one `restore`.
    """

    def __init__(self, bootstrap: str, topic: str = TOPIC, restore_s: float = RESTORE_S) -> None:
        self._client = {"bootstrap.servers": bootstrap}
        self._topic, self._restore_s = topic, restore_s
        self._due = Due()
        self._unreadable = 0
        self._sender = KafkaSender(self._client, topic, lambda cause: self._writer.failed(cause))
        self._writer = Writer(self._sender, topic)

    def start(self) -> None:
        """Begins to write."""
        self._writer.start()

    def restore(self) -> dict[PoolKey, PoolState]:
        found = restored(read_all(self._client, self._topic, self._restore_s))
        self._due.restored(found)
        self._unreadable = found.unreadable
        return found.states()

    def record(self, states: Mapping[PoolKey, PoolState]) -> None:
        self._writer.put(list(self._due.of(states)))

    def flush(self, timeout_s: float) -> bool:
        return self._writer.flush(timeout_s)

    def close(self, timeout_s: float) -> bool:
        written = self._writer.flush(timeout_s)
        self._sender.end()
        self._writer.stop()
        return written

    @property
    def counts(self) -> Counts:
        writer = self._writer
        return Counts(writer.waiting, writer.failures, self._unreadable, writer.illegal)
