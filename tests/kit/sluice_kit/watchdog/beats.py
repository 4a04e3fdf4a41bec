"""Asks each stage of a stack whether it works, and what has passed through it so far."""

import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import grpc
import requests
from confluent_kafka import Consumer, KafkaException, TopicPartition
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from sluice.cli.doctor.prometheus import sums
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.running_job import JOB
from sluice_kit.watchdog.standstill import Beat

ANSWER_S = 5.0
#: So many wait for the next checkpoint though nothing is sent: two a second.
CLOCK_RECORDS = 100
#: What the collector, the recommender and rollups write also when no test sends anything does not count.
TOPICS = ("otlp_spans", "otlp_dead_letter")
TABLES = (
    "windows",
    "call_edges",
    "call_trees",
    "container_calls",
    "critical_paths",
    "path_services",
    "trace_counts",
    "container_latency",
    "container_own_time",
    "data_sizes",
    "spans_left_out",
    "instance_clocks",
    "service_sampling",
)
COUNTED = "(SELECT count() FROM ingest_counts WHERE job != 'resource_metrics') AS ingest_counts"
BOLT_HELLO = bytes.fromhex("6060B017 00000405 00000004 00000000 00000000")


class Stages:
    """The stages of one stack, in the order in which data passes through them."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._at = stack.address
        self._consumer: Consumer | None = None

    def look(self) -> dict[str, Beat]:
        """A beat a stage; takes 5 s for each that does not answer."""
        probes: dict[str, Callable[[], Beat]] = {
            "collector": self._collector,
            "Kafka": self._kafka,
            "Flink": self._flink,
            "checkpoints": self._checkpoints,
            "ClickHouse": self._clickhouse,
            "Neo4j": self._neo4j,
            "recommender": self._recommender,
        }
        return {name: _beat_of(ask) for name, ask in probes.items()}

    def close(self) -> None:
        if self._consumer:
            self._consumer.close()

    def _collector(self) -> Beat:
        text = requests.get(f"http://{self._at['SLUICE_COLLECTOR_METRICS']}/metrics", timeout=ANSWER_S).text
        counters = sums(text)
        taken, sent = (counters.get(f"otelcol_{name}_spans", 0.0) for name in ("receiver_accepted", "exporter_sent"))
        return Beat(True, f"{taken:.0f} spans taken, {sent:.0f} sent on", counts=(taken, sent))

    def _kafka(self) -> Beat:
        """The spans' topic grows by clock records alone, so its end does not count."""
        ends = {topic: [self._end(partition) for partition in self._partitions(topic)] for topic in TOPICS}
        text = ", ".join(f"{topic} ends at {end}" for topic, end in ends.items())
        return Beat(True, text, counts=str(ends[TOPICS[1]]))

    def _flink(self) -> Beat:
        """What is behind the jobs, by the offsets that they commit with each checkpoint."""
        states = {job["name"]: job["state"] for job in self._jobs()}
        partitions = self._partitions(TOPICS[0])
        done = [partition.offset for partition in self._kafka_consumer().committed(partitions, timeout=ANSWER_S)]
        behind = sum(self._end(at) - max(offset, 0) for at, offset in zip(partitions, done, strict=True))
        text = f"{TOPICS[0]} is done up to {done} by {JOB}, {behind} behind; {states}"
        return Beat(True, text, counts=str((states, behind // CLOCK_RECORDS)))

    def _kafka_consumer(self) -> Consumer:
        if self._consumer is None:
            settings = {"bootstrap.servers": self._at["SLUICE_KAFKA"], "group.id": JOB, "enable.auto.commit": False}
            self._consumer = Consumer(settings)
        return self._consumer

    def _partitions(self, topic: str) -> list[TopicPartition]:
        partitions = self._kafka_consumer().list_topics(topic, timeout=ANSWER_S).topics[topic].partitions
        return [TopicPartition(topic, number) for number in sorted(partitions)]

    def _end(self, partition: TopicPartition) -> int:
        return int(self._kafka_consumer().get_watermark_offsets(partition, timeout=ANSWER_S)[1])

    def _checkpoints(self) -> Beat:
        jobs = list(self._jobs())
        done = {job["jid"]: self._flink_says(f"jobs/{job['jid']}/checkpoints")["counts"] for job in jobs}
        states = [
            f"{job['name']} {job['state']}, {done[job['jid']]['completed']} done, {done[job['jid']]['failed']} failed"
            for job in jobs
        ]
        completed = {jid: counts["completed"] for jid, counts in done.items()}
        return Beat(True, "; ".join(states) or "no job runs", pulse=str(completed))

    def _jobs(self) -> Iterator[dict[str, Any]]:
        ended = ("FAILED", "CANCELED", "FINISHED")
        yield from (job for job in self._flink_says("jobs/overview")["jobs"] if job["state"] not in ended)

    def _flink_says(self, path: str) -> Any:
        answer = requests.get(f"{self._at['SLUICE_FLINK']}/{path}", timeout=ANSWER_S)
        answer.raise_for_status()
        return answer.json()

    def _clickhouse(self) -> Beat:
        counts = [f"(SELECT count() FROM {table}) AS {table}" for table in TABLES]
        (row,) = self._stack.rows(f"SELECT {', '.join([*counts, COUNTED])}", within_s=ANSWER_S)
        return Beat(True, f"{sum(row.values())} rows in {len(row)} tables", counts=str(row))

    def _neo4j(self) -> Beat:
        """A handshake: the kernel takes connections also for a process that is stopped."""
        at = urlsplit(self._at["SLUICE_NEO4J"])
        with socket.create_connection((at.hostname or "", at.port or 7687), ANSWER_S) as connection:
            connection.sendall(BOLT_HELLO)
            version = connection.recv(4)
        return Beat(len(version) == 4, f"answers Bolt {version.hex()}")

    def _recommender(self) -> Beat:
        with grpc.insecure_channel(self._at["SLUICE_RECOMMENDER"]) as channel:
            HealthStub(channel).Check(HealthCheckRequest(), timeout=ANSWER_S)
        return Beat(True, "answers")


def _beat_of(ask: Callable[[], Beat]) -> Beat:
    try:
        return ask()
    except (requests.RequestException, KafkaException, grpc.RpcError, OSError, AssertionError, LookupError) as error:
        return Beat(False, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")
