"""This decider's shards, by Kafka's classic group protocol."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from sluice.journal.broker import Group
from sluice.journal.kafka_client import quiet
from sluice.journal.names import Topics
from sluice.journal.shard import HungError

log = logging.getLogger(__name__)

# The broker notices a killed decider after the session timeout; the others learn of it within a heartbeat.
SESSION_MS, HEARTBEAT_MS = 8_000, 1_000
# A decider that reports no progress for longer loses its shards. A takeover of a shard must take less.
LONGEST_PERIOD_MS = 45_000
ASK_S = 10.0


def group_name(topics: Topics) -> str:
    return f"{topics.reports}-deciders"


class KafkaGroup(Group):
    """A group member that owns partitions of the topic of reports, but reads none through this client. Cooperative:
    the decider keeps writing to shards that stay, while others move."""

    def __init__(self, client: Mapping[str, Any], topics: Topics) -> None:
        settings = {
            **client,
            "group.id": group_name(topics),
            "group.protocol": "classic",
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "max.poll.interval.ms": LONGEST_PERIOD_MS,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            # Waits for an offset whose transaction is still open.
            "isolation.level": "read_committed",
        }
        self._topic = topics.reports
        self._owned: set[int] = set()
        self.consumer = Consumer(settings, logger=quiet)
        self.consumer.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)

    def poll(self, timeout_s: float) -> frozenset[int]:
        until = time.monotonic() + timeout_s
        while True:
            message = self.consumer.poll(max(0.0, min(0.2, until - time.monotonic())))
            if message is not None and (error := message.error()) is not None:
                log.warning("the group of deciders: %s", error.str())
            if time.monotonic() >= until:
                return frozenset(self._owned)

    def committed(self, shard: int) -> int:
        try:
            (position,) = self.consumer.committed([TopicPartition(self._topic, shard)], timeout=ASK_S)
        except KafkaException as cause:
            raise HungError(f"read the offset of reports of shard {shard}: {cause.args[0].str()}") from cause
        if position.error is not None:
            raise HungError(f"read the offset of reports of shard {shard}: {position.error.str()}")
        return max(0, position.offset)

    def close(self) -> None:
        self.consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        consumer.pause(partitions)
        self._owned |= {partition.partition for partition in partitions}

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_unassign(partitions)
        self._owned -= {partition.partition for partition in partitions}
