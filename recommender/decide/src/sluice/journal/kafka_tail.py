"""Committed records of one shard, from an offset on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from sluice.journal.broker import Reader, Record
from sluice.journal.kafka_client import quiet
from sluice.journal.shard import HungError

BATCH = 10_000


class KafkaTail(Reader):
    """Belongs to no group. The client says where it has come to an end, at the last stable offset: by that the position
    passes records that are not given out, such as those that end a transaction."""

    def __init__(self, client: Mapping[str, Any], shard: int, since: Mapping[str, int]) -> None:
        settings = {
            **client,
            "group.id": "sluice-reads",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            # What a topic does not have any more is passed.
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }
        self._at = dict(since)
        self._ended: set[str] = set()
        self._consumer = Consumer(settings, logger=quiet)
        self._consumer.assign([TopicPartition(name, shard, at) for name, at in since.items()])

    def read(self, timeout_s: float) -> list[Record]:
        found: list[Record] = []
        # For a batch it would wait as long as it may, whatever has come.
        for message in self._consumer.consume(1, timeout_s) + self._consumer.consume(BATCH, 0):
            error, topic, offset = message.error(), message.topic() or "", message.offset() or 0
            if error is None:
                self._at[topic] = offset + 1
                self._ended.discard(topic)
                name = (message.key() or b"").decode(errors="backslashreplace")
                found.append(Record(topic, offset, name, message.value()))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._at[topic] = max(self._at[topic], offset)
                self._ended.add(topic)
            elif not error.retriable() and error.code() != KafkaError._ALL_BROKERS_DOWN:
                raise HungError(f"read {topic}: {error.str()}") from KafkaException(error)
        return found

    def position(self, topic: str) -> int:
        return self._at[topic]

    def at_end(self, topic: str) -> bool:
        return topic in self._ended

    def close(self) -> None:
        self._consumer.close()
