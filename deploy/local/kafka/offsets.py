"""Prints as JSON what each topic holds and how long it keeps it, and how far each consumer group is behind.

Reads records, but commits nothing. For each topic: `records`; `retention_ms` and `retention_bytes` (of a partition), -1
where there is no limit; `oldest_ms`, by partition the record time of its first record, null where it is empty; by group
of Sluice's `groups`, the records that it has not read, and `missed`, those of them that are deleted already.
"""

import argparse
import json
import os
import re
import sys
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

TIMEOUT_S = 5.0
#: The streaming job of the local stack, the deciders, and who writes records: not who only looked once.
READERS = re.compile(r"sluice-streaming|.+-deciders|.+-sluice-records")


def committed_offsets(admin: AdminClient) -> dict[str, list[TopicPartition]]:
    """Group of `READERS` -> its partitions with a committed offset."""
    listed = [group.group_id for group in admin.list_consumer_groups().result(TIMEOUT_S).valid]
    groups = list(filter(READERS.fullmatch, listed))
    found = {}
    for name in groups:
        futures = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])
        partitions = futures[name].result(TIMEOUT_S).topic_partitions
        found[name] = [partition for partition in partitions if partition.offset >= 0]
    return found


def retention(admin: AdminClient, topics: list[str]) -> dict[str, dict[str, int]]:
    """Topic -> `retention_ms` and `retention_bytes`."""
    asked = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic) for topic in topics])
    return {
        of.name: {
            f"retention_{unit}": int(future.result(TIMEOUT_S)[f"retention.{unit}"].value) for unit in ("ms", "bytes")
        }
        for of, future in asked.items()
    }


def record_ms(consumer: Consumer, at: TopicPartition) -> int | None:
    """Record time of the first record from an offset on; None when it does not come."""
    consumer.assign([at])
    message = consumer.poll(TIMEOUT_S)
    return None if message is None or message.error() else int(message.timestamp()[1])


def facts(consumer: Consumer, admin: AdminClient) -> list[dict[str, Any]]:
    """Raises KafkaException."""
    listed = {
        topic: sorted(about.partitions)
        for topic, about in sorted(consumer.list_topics(timeout=TIMEOUT_S).topics.items())
        if not topic.startswith("__")
    }
    committed = committed_offsets(admin)
    kept = retention(admin, list(listed))
    found = []
    for topic, partitions in listed.items():
        ends = {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=TIMEOUT_S)
            for number in partitions
        }
        reading = {
            group: [(ends[each.partition], each.offset) for each in offsets if each.topic == topic]
            for group, offsets in committed.items()
        }
        about = {
            "topic": topic,
            "records": sum(high - low for low, high in ends.values()),
            "oldest_ms": {
                number: record_ms(consumer, TopicPartition(topic, number, low)) if low < high else None
                for number, (low, high) in ends.items()
            },
            "groups": {group: sum(high - at for (_, high), at in ats) for group, ats in reading.items() if ats},
            "missed": {group: sum(max(low - at, 0) for (low, _), at in ats) for group, ats in reading.items() if ats},
        }
        found.append(about | kept[topic])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", default=os.environ.get("SLUICE_KAFKA", "127.0.0.1:9092"))
    options = parser.parse_args()
    servers = {"bootstrap.servers": options.bootstrap, "log_level": 0}
    looking = {"group.id": "sluice-status", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer(servers | looking)
    try:
        print(json.dumps(facts(consumer, AdminClient(servers))))
    except KafkaException as error:
        print(f"cannot ask {options.bootstrap}: {error.args[0].str()}", file=sys.stderr)
        return 1
    finally:
        consumer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
