"""Reads committed records of one shard from an offset on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from sluice.journal.broker import Reader, Record
from sluice.journal.kafka_client import quiet
from sluice.journal.shard import HungError

BATCH = 10_000


class KafkaTail(Reader):
    """A reader outside of any group. The client reports ends at the last stable offset. By these, the position passes
    offsets without records, such as transaction markers."""

    def __init__(self, client: Mapping[str, Any], shard: int, since: Mapping[str, int]) -> None:
        settings = {
            **client,
            "group.id": "sluice-reads",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            # Where retention deleted the offset, go on at the oldest record.
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }
        self._at = dict(since)
        self._ended: set[str] = set()
        self._consumer = Consumer(settings, logger=quiet)
        self._consumer.assign([TopicPartition(name, shard, at) for name, at in since.items()])

    def read(self, timeout_s: float) -> list[Record]:
        records: list[Record] = []
        # To get a whole batch, the client would wait for all of the timeout, so wait for one record only.
        for message in self._consumer.consume(1, timeout_s) + self._consumer.consume(BATCH, 0):
            error, topic, offset = message.error(), message.topic() or "", message.offset() or 0
            if error is None:
                self._at[topic] = offset + 1
                self._ended.discard(topic)
                name = (message.key() or b"").decode(errors="backslashreplace")
                records.append(Record(topic, offset, name, message.value()))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._at[topic] = max(self._at[topic], offset)
                self._ended.add(topic)
            elif not error.retriable() and error.code() != KafkaError._ALL_BROKERS_DOWN:
                raise HungError(f"read {topic}: {error.str()}") from KafkaException(error)
        return records

    def position(self, topic: str) -> int:
        return self._at[topic]

    def at_end(self, topic: str) -> bool:
        return topic in self._ended

    def close(self) -> None:
        self._consumer.close()
