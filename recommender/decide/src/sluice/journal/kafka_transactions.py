"""The transactional writer of one shard. A second writer with the same `transactional.id` fences it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from sluice.journal.broker import Transactions
from sluice.journal.kafka_client import quiet
from sluice.journal.kafka_group import KafkaGroup
from sluice.journal.names import Topics
from sluice.journal.shard import AbortedError, FencedError, HungError

# The broker aborts a transaction that is open for longer; a commit times out at the same age.
TRANSACTION_MS = 10_000
CALL_S, INIT_S, CLOSE_S = TRANSACTION_MS / 1_000, 20.0, 1.0

_FENCED = {
    # After a fatal error, later calls report it by this code only, not by `fatal()`.
    KafkaError._FATAL,
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    # The group assigned the shard to another decider, and this one may not know yet.
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.FENCED_INSTANCE_ID,
}


class KafkaTransactions(Transactions):
    def __init__(self, client: Mapping[str, Any], topics: Topics, shard: int, group: KafkaGroup) -> None:
        settings = {
            **client,
            "transactional.id": f"{topics.decisions}-{shard}",
            "transaction.timeout.ms": TRANSACTION_MS,
            "message.timeout.ms": TRANSACTION_MS,
            "compression.type": "lz4",
            # Batches a commit: it is complete before its first record is sent.
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
        }
        self._reports, self._shard, self._group = topics.reports, shard, group
        self._producer = Producer(settings, logger=quiet)
        self._open = False

    def init(self) -> None:
        self._try("begin to write", lambda: self._producer.init_transactions(INIT_S))

    def begin(self) -> None:
        self._try("begin a transaction", self._producer.begin_transaction)
        self._open = True

    def send(self, topic: str, key: str, value: bytes | None) -> None:
        def produce() -> None:
            self._producer.produce(topic, value, key.encode(), partition=self._shard)

        try:
            self._try(f"write {key}", produce)
        except BufferError as cause:
            raise AbortedError(f"write {key}: {cause}") from cause

    def send_offset(self, offset: int) -> None:
        # Without a member id, the broker takes the client for an older version, and checks nothing.
        if not self._group.consumer.memberid():
            raise FencedError(f"write offsets of shard {self._shard}: this decider left the group")
        at = [TopicPartition(self._reports, self._shard, offset)]
        member = self._group.consumer.consumer_group_metadata()
        self._try("write offsets", lambda: self._producer.send_offsets_to_transaction(at, member, CALL_S))

    def commit(self) -> None:
        self._try("commit", lambda: self._producer.commit_transaction(CALL_S))
        self._open = False

    def abort(self) -> None:
        self._try("abort", lambda: self._producer.abort_transaction(CALL_S))
        self._open = False

    def close(self) -> None:
        self._producer.purge()
        if self._open:
            self._open = False
            with suppress(KafkaException):
                self._producer.abort_transaction(CLOSE_S)

    def _try(self, what: str, call: Callable[[], object]) -> None:
        try:
            call()
        except KafkaException as cause:
            raise _error_of(f"{what} of shard {self._shard}", cause.args[0]) from cause


def _error_of(what: str, error: KafkaError) -> Exception:
    """The error for the caller. A fatal error ends the use of the client, as fencing does."""
    text = f"{what}: {error.str()}"
    if error.code() in _FENCED or error.fatal():
        return FencedError(text)
    if error.txn_requires_abort():
        return AbortedError(text)
    return HungError(text)
