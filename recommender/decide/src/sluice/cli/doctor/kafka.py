"""Kafka: whether it answers, has the topics, and whether the readers keep up."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.groups import Known, known
from sluice.cli.doctor.probe import START, open_port
from sluice.cli.environment import Addresses
from sluice.journal.kafka_client import quiet
from sluice.journal.kafka_settings import KafkaSettings, KafkaSettingsError, from_environment

#: The contract between collector and jobs. It is beside the program when that runs from the source tree.
_TOPICS = Path(__file__).resolve().parents[6] / "collector" / "topics.yaml"
_SPANS = "otlp_spans"
_LAG_WARN = 1000


def topics(where: Addresses, timeout_s: float) -> Diagnosis:
    expected = expected_topics()
    try:
        expected = {kafka_settings(where).topic(name): partitions for name, partitions in expected.items()}
        client = admin(where, timeout_s)
        counts = partition_counts(client, where, timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    ends = dict.fromkeys(expected, 0)
    for (topic, _), offset in partition_ends(
        client, timeout_s, {t: counts[t] for t in expected if t in counts}
    ).items():
        ends[topic] += offset
    return judge_topics(expected, counts, ends)


def expected_topics(path: Path = _TOPICS) -> dict[str, int]:
    """Topic -> partitions, from collector/topics.yaml."""
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: int(topic["partitions"]) for name, topic in loaded["topics"].items()}


def judge_topics(expected: dict[str, int], counts: dict[str, int], ends: dict[str, int]) -> Diagnosis:
    """counts: partitions by topic. ends: messages ever written (sum of end offsets), by topic."""
    missing = [name for name in expected if name not in counts]
    if missing:
        return Diagnosis("fail", f"topics missing: {', '.join(missing)}", "create the topics with `make up`")
    text = "; ".join(f"{name} {counts[name]} partitions, end offset {ends[name]:,}" for name in expected)
    small = [name for name, partitions in expected.items() if counts[name] != partitions]
    if small:
        return Diagnosis(
            "warn", text, f"collector/topics.yaml sets another number of partitions for {', '.join(small)}"
        )
    return Diagnosis("ok", text)


def lag(where: Addresses, timeout_s: float) -> Diagnosis:
    client = admin(where, timeout_s)
    counts = partition_counts(client, where, timeout_s)
    spans = kafka_settings(where).topic(_SPANS)
    if spans not in counts:
        return Diagnosis("unknown", f"not known: there is no topic {spans}")
    ends = partition_ends(client, timeout_s, {spans: counts[spans]})
    return judge_lag(group_lags(client, timeout_s, ends, known(where, timeout_s)))


def judge_lag(lags: dict[str, int]) -> Diagnosis:
    """lags: uncommitted messages of the spans topic, by consumer group of a streaming job."""
    if not lags:
        return Diagnosis("unknown", f"not known: no streaming job has committed an offset of {_SPANS} yet")
    text = "; ".join(f"group {group}: {behind:,} messages behind" for group, behind in sorted(lags.items()))
    if max(lags.values()) > _LAG_WARN:
        return Diagnosis("warn", text, "the streaming job does not keep up or does not run: see the stage flink")
    return Diagnosis("ok", f"{text} (as of the last checkpoint)")


def admin(where: Addresses, timeout_s: float) -> Any:
    from confluent_kafka.admin import AdminClient

    # librdkafka retries a dead address for ever, so the port is checked first.
    settings = kafka_settings(where)
    _one_answers(settings.brokers.split(","), timeout_s)
    return AdminClient({**settings.client(), "socket.timeout.ms": int(timeout_s * 1000)}, logger=quiet)


def kafka_settings(where: Addresses) -> KafkaSettings:
    try:
        return from_environment({**os.environ, "SLUICE_KAFKA": where.kafka})
    except KafkaSettingsError as error:
        raise NotAnsweringError(str(error)) from None


def _one_answers(brokers: Sequence[str], timeout_s: float) -> None:
    """Raises NotAnsweringError when no broker accepts a connection. One is enough: it knows the others."""
    for address in brokers[:-1]:
        try:
            open_port(address, timeout_s)
        except NotAnsweringError:
            continue
        return
    open_port(brokers[-1], timeout_s)


def partition_counts(client: Any, where: Addresses, timeout_s: float) -> dict[str, int]:
    from confluent_kafka import KafkaException

    try:
        metadata = client.list_topics(timeout=timeout_s)
    except KafkaException as error:
        raise NotAnsweringError(f"Kafka at {where.kafka} does not answer ({error.args[0].str()})") from None
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}


def partition_ends(client: Any, timeout_s: float, partitions: dict[str, int]) -> dict[tuple[str, int], int]:
    """End offset by topic and partition. `client` must live until the futures are done."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    wanted = {TopicPartition(t, p): latest for t, count in partitions.items() for p in range(count)}
    if not wanted:
        return {}
    futures = client.list_offsets(wanted, request_timeout=timeout_s)
    return {(tp.topic, tp.partition): future.result(timeout_s).offset for tp, future in futures.items()}


def group_lags(client: Any, timeout_s: float, ends: dict[tuple[str, int], int], known: Known) -> dict[str, int]:
    return {
        group: sum(max(ends[at] - offset, 0) for at, offset in offsets.items())
        for group, offsets in committed(client, timeout_s, set(ends), known).items()
    }


def committed(
    client: Any, timeout_s: float, partitions: set[tuple[str, int]], known: Known
) -> dict[str, dict[tuple[str, int], int]]:
    """Consumer group -> the next offset that it reads, by topic and partition. Groups that are not `known`, and those
    that read none of the partitions, are left out."""
    from confluent_kafka import ConsumerGroupTopicPartitions

    by_group: dict[str, dict[tuple[str, int], int]] = {}
    for group in client.list_consumer_groups(request_timeout=timeout_s).result(timeout_s).valid:
        if not known(group.group_id):
            continue
        offsets = client.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group.group_id)], request_timeout=timeout_s
        )
        for partition in offsets[group.group_id].result(timeout_s).topic_partitions:
            if (partition.topic, partition.partition) in partitions and partition.offset >= 0:
                by_group.setdefault(group.group_id, {})[(partition.topic, partition.partition)] = partition.offset
    return by_group
