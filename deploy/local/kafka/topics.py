"""Creates the topics of collector/topics.yaml, or brings existing ones to that configuration.

Brokers are those of SLUICE_KAFKA; with SLUICE_KAFKA_SETTINGS they, their topics' names, TLS and SASL are what that file
says (collector/kafka.toml).
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
    """Makes brokers agree with `topics`; returns the names of those created. Partitions are never taken away, and of a
    `fixed` topic never added.

    Raises:
        PartitionsError: a fixed topic has another number of them.
    """
    configs = {name: {key: str(value) for key, value in topic["config"].items()} for name, topic in topics.items()}
    wanted = [
        NewTopic(name, num_partitions=topic["partitions"], replication_factor=topic.get("replication_factor", 1),
                 config=configs[name])
        for name, topic in topics.items()
    ]  # fmt: skip
    created = []
    for name, future in admin.create_topics(wanted, operation_timeout=TIMEOUT_S).items():
        try:
            future.result(TIMEOUT_S)
            created.append(name)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    existing = [name for name in topics if name not in created]
    check(admin, {name: topics[name]["partitions"] for name in existing if topics[name].get("fixed")})
    if existing:
        align(
            admin, {name: topics[name]["partitions"] for name in existing}, {name: configs[name] for name in existing}
        )
    return created


def check(admin: AdminClient, fixed: dict[str, int]) -> None:
    """fixed: partitions by topic."""
    known = admin.list_topics(timeout=TIMEOUT_S).topics
    for name, wanted in fixed.items():
        if (found := len(known[name].partitions)) != wanted:
            raise PartitionsError(f"{name} has {found} partitions, and is to have {wanted}: a shard is a partition")


def align(admin: AdminClient, partitions: dict[str, int], configs: dict[str, dict[str, str]]) -> None:
    """Sets configuration, and adds partitions that are lacking."""
    resources = [
        ConfigResource(
            ResourceType.TOPIC,
            name,
            incremental_configs=[
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in config.items()
            ],
        )
        for name, config in configs.items()
    ]
    for future in admin.incremental_alter_configs(resources).values():
        future.result(TIMEOUT_S)
    known = admin.list_topics(timeout=TIMEOUT_S).topics
    lacking = [NewPartitions(name, count) for name, count in partitions.items() if len(known[name].partitions) < count]
    if lacking:
        for future in admin.create_partitions(lacking).values():
            future.result(TIMEOUT_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", help="brokers, whatever else is said")
    parser.add_argument("--topics", type=Path, default=Path("collector/topics.yaml"))
    parser.add_argument("--replication-factor", type=int, metavar="N", help="copies of each topic that is created now")
    options = parser.parse_args()
    try:
        settings = from_environment()
    except KafkaSettingsError as error:
        print(error, file=sys.stderr)
        return 2
    told = yaml.safe_load(options.topics.read_text())["topics"]
    copies = {"replication_factor": options.replication_factor} if options.replication_factor else {}
    topics = {settings.topic(name): topic | copies for name, topic in told.items()}
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
