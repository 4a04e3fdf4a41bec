"""The journal's broker on Kafka, with the client confluent-kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from sluice.journal.broker import Broker, Group
from sluice.journal.kafka_client import quiet
from sluice.journal.kafka_group import KafkaGroup, group_name
from sluice.journal.kafka_tail import KafkaTail
from sluice.journal.kafka_transactions import KafkaTransactions
from sluice.journal.names import Topics
from sluice.journal.shard import HungError

ASK_S = 10.0


class KafkaBroker(Broker):
    """bootstrap: HOST:PORT, or several, comma-separated. name: of this process, for the broker's own logs.

    more: properties of librdkafka, such as those for TLS. Deciders whose topics have the same names form one group.
    """

    def __init__(
        self, bootstrap: str, topics: Topics, name: str = "sluice-decider", more: Mapping[str, str] | None = None
    ) -> None:
        self._client: dict[str, Any] = {**(more or {}), "bootstrap.servers": bootstrap, "client.id": name}
        self._topics = topics
        # With read_committed, the end would be the last stable offset, not the high watermark.
        settings = {
            **self._client,
            "group.id": "sluice-asks",
            "enable.auto.commit": False,
            "isolation.level": "read_uncommitted",
        }
        self._asks = Consumer(settings, logger=quiet)

    def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        wanted = set(topics)
        try:
            there = self._asks.list_topics(timeout=ASK_S).topics
        except KafkaException as cause:
            raise HungError(f"list topics: {cause.args[0].str()}") from cause
        return {name: len(about.partitions) for name, about in there.items() if name in wanted}

    def end(self, topic: str, shard: int) -> int:
        try:
            _, end = self._asks.get_watermark_offsets(TopicPartition(topic, shard), timeout=ASK_S, cached=False)
        except KafkaException as cause:
            raise HungError(f"read the end of {topic}: {cause.args[0].str()}") from cause
        return int(end)

    def reader(self, shard: int, since: Mapping[str, int]) -> KafkaTail:
        return KafkaTail(self._client, shard, since)

    def group(self) -> KafkaGroup:
        return KafkaGroup(self._client, self._topics)

    def deciders(self) -> int:
        name = group_name(self._topics)
        try:
            admin = AdminClient(self._client, logger=quiet)
            answers = admin.describe_consumer_groups([name], request_timeout=ASK_S)
            return len(answers[name].result().members)
        except KafkaException as cause:
            raise HungError(f"describe the group {name}: {cause.args[0].str()}") from cause

    def transactions(self, shard: int, group: Group) -> KafkaTransactions:
        assert isinstance(group, KafkaGroup)
        return KafkaTransactions(self._client, self._topics, shard, group)

    def close(self) -> None:
        self._asks.close()
