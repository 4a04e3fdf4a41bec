"""Kafka deletes old records, read or not: how close the deletion is to the next record of each group."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.groups import known
from sluice.cli.doctor.kafka import admin, committed, kafka_settings, partition_counts
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import seconds
from sluice.journal.kafka_client import quiet
from sluice.journal.kafka_settings import KafkaSettings

_TOPICS = ("otlp_spans", "otlp_metrics")
#: Warn once the next record of a group has used this part of its time in Kafka.
_USED_WARN = 0.5
#: The byte limit is what deletes when the oldest record is younger than this part of retention.ms.
_BYTES_FIRST = 0.9
_CATCH_UP = "the streaming job does not keep up or does not run: see the stage flink, and raise the topic's retention"
_MORE_BYTES = "raise retention.bytes in collector/topics.yaml and run `make up`, or accept less time for an outage"


@dataclass(frozen=True)
class PartitionRetention:
    """The offsets of a partition, from `low` to before `high`, and the position of a consumer group in it.

    committed: None without a group. oldest_ms, next_ms: record times of the first record kept and of the next one
    that the group reads; None where there is none. retention_ms, retention_bytes (of a partition): -1 for no limit.
    """

    topic: str
    partition: int
    low: int
    high: int
    retention_ms: int
    oldest_ms: int | None = None
    group: str = ""
    committed: int | None = None
    next_ms: int | None = None
    retention_bytes: int = -1


def retention(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge_retention(kept_by_partition(where, timeout_s), time.time() * 1000)


def judge_retention(kept: Sequence[PartitionRetention], now_ms: float) -> Diagnosis:
    """kept: one entry for each group of each partition; one without a group for a partition that has none."""
    if not kept:
        return Diagnosis("unknown", f"not known: none of the topics {', '.join(_TOPICS)} exists")
    lost = [
        f"Kafka deleted {partition.low - partition.committed:,} records of {_name(partition)} that {partition.group}"
        " has not read"
        for partition in kept
        if partition.committed is not None and partition.committed < partition.low
    ]
    if lost:
        return Diagnosis("warn", "; ".join(lost), "they are lost; the job counts them in offset_gaps once it goes on")
    late = [partition for partition in kept if _used(partition, now_ms) > _USED_WARN]
    if late:
        worst = max(late, key=lambda partition: _used(partition, now_ms))
        behind = f"the next record of {worst.group} in {_name(worst)} is {_age(worst.next_ms, now_ms)} old"
        kept_for = seconds(_window_ms(worst, now_ms) / 1000)
        return Diagnosis("warn", f"{behind}, {_used(worst, now_ms):.0%} of the {kept_for} that Kafka keeps", _CATCH_UP)
    topics = dict.fromkeys(partition.topic for partition in kept)
    text = "; ".join(
        _topic_text([partition for partition in kept if partition.topic == topic], now_ms) for topic in topics
    )
    short = sorted({partition.topic for partition in kept if _by_bytes(partition, now_ms)})
    if short:
        return Diagnosis(
            "warn", f"{text}. The byte limit deletes before the time limit in {', '.join(short)}", _MORE_BYTES
        )
    return Diagnosis("ok", text)


def _topic_text(kept: Sequence[PartitionRetention], now_ms: float) -> str:
    oldest = [partition.oldest_ms for partition in kept if partition.oldest_ms is not None]
    if not oldest:
        return f"{kept[0].topic} is empty"
    limit = seconds(kept[0].retention_ms / 1000) if kept[0].retention_ms >= 0 else "no limit"
    return f"{kept[0].topic}: oldest record {_age(min(oldest), now_ms)} old of {limit}"


def _used(kept: PartitionRetention, now_ms: float) -> float:
    """How much of its time in Kafka the next record has used: Kafka deletes it at 1."""
    if kept.next_ms is None:
        return 0.0
    window_ms = _window_ms(kept, now_ms)
    return (now_ms - kept.next_ms) / window_ms if window_ms > 0 else 0.0


def _window_ms(kept: PartitionRetention, now_ms: float) -> float:
    """How long Kafka keeps records; 0 where it never deletes any."""
    if _by_bytes(kept, now_ms) and kept.oldest_ms is not None:
        return now_ms - kept.oldest_ms
    return max(kept.retention_ms, 0)


def _by_bytes(kept: PartitionRetention, now_ms: float) -> bool:
    """Whether Kafka deleted records that were younger than the time limit."""
    if not kept.low or kept.oldest_ms is None or kept.retention_ms < 0:
        return False
    return now_ms - kept.oldest_ms < _BYTES_FIRST * kept.retention_ms


def _age(record_ms: int | None, now_ms: float) -> str:
    return "unknown" if record_ms is None else seconds((now_ms - record_ms) / 1000)


def _name(kept: PartitionRetention) -> str:
    return f"{kept.topic}/{kept.partition}"


def looking(settings: KafkaSettings) -> Any:
    """A consumer that only looks: librdkafka needs a group id, but commits no offsets under this one. It logs nothing:
    with a broker that goes away meanwhile, that would be 20 lines a second."""
    from confluent_kafka import Consumer

    alone = {"group.id": "sluice-doctor", "enable.auto.commit": False, "enable.partition.eof": True}
    return Consumer({**settings.client(), **alone}, logger=quiet)


def kept_by_partition(where: Addresses, timeout_s: float) -> list[PartitionRetention]:
    from confluent_kafka import KafkaException, TopicPartition

    settings = kafka_settings(where)
    client = admin(where, timeout_s)
    counts = partition_counts(client, where, timeout_s)
    names = [settings.topic(topic) for topic in _TOPICS]
    partitions = [(topic, number) for topic in names for number in range(counts.get(topic, 0))]
    limits = _retention(client, timeout_s, [topic for topic in names if topic in counts])
    groups = committed(client, timeout_s, set(partitions), known(where, timeout_s))
    consumer = looking(settings)

    def of_partition(topic: str, number: int) -> list[PartitionRetention]:
        def time_of(offset: int) -> int | None:
            at = TopicPartition(topic, number, offset)
            return _time_of(consumer, at, timeout_s) if offset < high else None

        low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=timeout_s)
        limit_ms, limit_bytes = limits[topic]
        retention = PartitionRetention(topic, number, low, high, limit_ms, time_of(low), retention_bytes=limit_bytes)
        reading = {group: offsets[topic, number] for group, offsets in groups.items() if (topic, number) in offsets}
        return [
            replace(retention, group=group, committed=offset, next_ms=time_of(max(offset, low)))
            for group, offset in reading.items()
        ] or [retention]

    try:
        return [partition for at in partitions for partition in of_partition(*at)]
    except KafkaException as error:
        raise NotAnsweringError(f"Kafka at {where.kafka}: {error.args[0].str()}") from None
    finally:
        consumer.close()


def _time_of(consumer: Any, at: Any, timeout_s: float) -> int | None:
    """Record time in ms of the first record at or after an offset; None when none arrives in time."""
    consumer.assign([at])
    message = consumer.poll(timeout_s)
    return None if message is None or message.error() else int(message.timestamp()[1])


def _retention(client: Any, timeout_s: float, topics: list[str]) -> dict[str, tuple[int, int]]:
    """Topic -> retention.ms and retention.bytes."""
    from confluent_kafka.admin import ConfigResource, ResourceType  # type: ignore[attr-defined]

    resources = client.describe_configs(
        [ConfigResource(ResourceType.TOPIC, t) for t in topics], request_timeout=timeout_s
    )
    configs = {resource.name: future.result(timeout_s) for resource, future in resources.items()}
    return {topic: (int(c["retention.ms"].value), int(c["retention.bytes"].value)) for topic, c in configs.items()}
