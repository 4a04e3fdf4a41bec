"""Prints as JSON the number of records in each topic, and how far each consumer group is behind."""

import argparse
import json
import os
import sys
from collections import defaultdict

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

TIMEOUT_S = 5.0


def committed_offsets(admin: AdminClient) -> dict[str, list[TopicPartition]]:
    """Group -> its partitions with a committed offset."""
    groups = [group.group_id for group in admin.list_consumer_groups().result(TIMEOUT_S).valid]
    found = {}
    for name in groups:
        futures = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])
        partitions = futures[name].result(TIMEOUT_S).topic_partitions
        found[name] = [partition for partition in partitions if partition.offset >= 0]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", default=os.environ.get("SLUICE_KAFKA", "127.0.0.1:9092"))
    options = parser.parse_args()
    servers = {"bootstrap.servers": options.bootstrap}
    consumer = Consumer(servers | {"group.id": "sluice-status", "log_level": 0})
    try:
        listed = consumer.list_topics(timeout=TIMEOUT_S).topics
        committed = committed_offsets(AdminClient(servers | {"log_level": 0}))
        ends = {
            (topic, number): consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=TIMEOUT_S)
            for topic, about in listed.items()
            if not topic.startswith("__")
            for number in about.partitions
        }
    except KafkaException as error:
        print(f"cannot ask {options.bootstrap}: {error.args[0].str()}", file=sys.stderr)
        return 1
    finally:
        consumer.close()
    records: dict[str, int] = defaultdict(int)
    for (topic, _), (low, high) in ends.items():
        records[topic] += high - low
    lags: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group, partitions in committed.items():
        for partition in partitions:
            if (end := ends.get((partition.topic, partition.partition))) is not None:
                lags[partition.topic][group] += end[1] - partition.offset
    print(json.dumps([{"topic": topic, "records": records[topic], "groups": lags[topic]} for topic in sorted(records)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
