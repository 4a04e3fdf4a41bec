"""Creates the topics of collector/topics.yaml, or brings existing ones to that configuration.

Environment: SLUICE_KAFKA (brokers), SLUICE_KAFKA_PROPERTIES (file of librdkafka's properties, with TLS and SASL, like
recommender/kafka.properties), and other names of topics: SLUICE_TOPIC_PREFIX instead of sluice_, SLUICE_SPANS_TOPIC,
SLUICE_METRICS_TOPIC, SLUICE_DEAD_LETTER_TOPIC.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "recommender/decide/src"))

from sluice.journal.kafka_settings import KafkaSettingsError, from_environment

TIMEOUT_S = 30.0


class PartitionsError(Exception):
    """A topic whose partitions are shards has another number of them."""


def create(admin: AdminClient, topics: dict[str, dict[str, Any]]) -> list[str]:
    """Makes brokers agree with `topics`; returns the names of those created. It never takes partitions away, and never
    adds one to a `fixed` topic.

    Raises:
        PartitionsError: a fixed topic has another number of them.
    """
    new = [
        NewTopic(name, num_partitions=topic["partitions"], replication_factor=topic.get("replication_factor", 1),
                 config=_config(topic))
        for name, topic in topics.items()
    ]  # fmt: skip
    created = []
    for name, future in admin.create_topics(new, operation_timeout=TIMEOUT_S).items():
        try:
            future.result(TIMEOUT_S)
            created.append(name)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    if existing := {name: topic for name, topic in topics.items() if name not in created}:
        _align(admin, existing)
    return created


def _config(topic: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in topic["config"].items()}


def _align(admin: AdminClient, topics: dict[str, dict[str, Any]]) -> None:
    """Sets configuration, and adds missing partitions. Raises PartitionsError before it changes anything."""
    known = admin.list_topics(timeout=TIMEOUT_S).topics
    partitions = {name: len(known[name].partitions) for name in topics}
    for name, topic in topics.items():
        if topic.get("fixed") and partitions[name] != topic["partitions"]:
            have, want = partitions[name], topic["partitions"]
            raise PartitionsError(f"{name} has {have} partitions, and is to have {want}: a shard is a partition")
    resources = [
        ConfigResource(
            ResourceType.TOPIC,
            name,
            incremental_configs=[
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
                for key, value in _config(topic).items()
            ],
        )
        for name, topic in topics.items()
    ]
    for future in admin.incremental_alter_configs(resources).values():
        future.result(TIMEOUT_S)
    more = [NewPartitions(name, t["partitions"]) for name, t in topics.items() if partitions[name] < t["partitions"]]
    for future in admin.create_partitions(more).values() if more else ():
        future.result(TIMEOUT_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", help="brokers, instead of those of the environment")
    parser.add_argument("--topics", type=Path, default=Path("collector/topics.yaml"))
    parser.add_argument("--replication-factor", type=int, metavar="N", help="copies of a topic that is created now")
    options = parser.parse_args()
    try:
        settings = from_environment()
    except KafkaSettingsError as error:
        print(error, file=sys.stderr)
        return 2
    declared = yaml.safe_load(options.topics.read_text())["topics"]
    copies = {"replication_factor": options.replication_factor} if options.replication_factor else {}
    topics = {settings.topic(name): topic | copies for name, topic in declared.items()}
    brokers = options.bootstrap or settings.brokers
    admin = AdminClient(settings.client() | {"bootstrap.servers": brokers})
    try:
        created = create(admin, topics)
    except (KafkaException, PartitionsError) as error:
        print(f"cannot create topics on {brokers}: {error}", file=sys.stderr)
        return 1
    print(f"{len(topics)} topics on {brokers}, {len(created)} of them created now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
