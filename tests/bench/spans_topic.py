"""Fills the topic otlp_spans with made spans, as the collector writes them: lz4, no key, batches on two partitions.

Record times are those at which the spans would have come, not those of the filling: else millions of traces would be
open at once, which no system that makes them at their own speed ever shows a job.
"""

import time
from collections.abc import Iterator
from itertools import count

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from bench.made_spans import SPANS_PER_ROUND, MadeSpans, Shape

TOPIC = "otlp_spans"
PARTITIONS = 2
#: For `renew`, where spans are sent as time goes by: what collector/topics.yaml says.
BROKERS_TIME = {"message_timestamp_type": "LogAppendTime"}
_CONFIG = {"message.timestamp.type": "CreateTime", "max.message.bytes": "4194304"}


def fill(bootstrap: str, shape: Shape, spans: int, partitions: int = PARTITIONS) -> int:
    """Makes the topic anew with at least `spans` spans that end about now; the number of messages."""
    made = MadeSpans(shape)
    rounds = -(-spans // SPANS_PER_ROUND)
    start_ns = time.time_ns() - rounds * made.round_ns
    renew(bootstrap, partitions)
    messages = (
        (at_ns // 1_000_000, message)
        for number in range(rounds)
        for at_ns, message in timed(made, number, start_ns + number * made.round_ns)
    )
    return _send(_producer(bootstrap), messages, partitions)


def timed(made: MadeSpans, number: int, start_ns: int) -> Iterator[tuple[int, bytes]]:
    """The messages of a round, each with about the time at which the last of its spans ends."""
    messages = list(made.round(number, start_ns))
    for i, message in enumerate(messages):
        # The ends of a round's spans are spread over about its length, after the median length of a trace.
        yield start_ns + 50_000_000 + i * made.round_ns // len(messages), message


def trickle(bootstrap: str, shape: Shape, seconds: float) -> None:
    """Sends spans as time goes by: each message when the last of its spans has ended. Waits where Kafka does."""
    made = MadeSpans(shape)
    producer = _producer(bootstrap)
    begun_ns = time.time_ns()
    for number in count():
        start_ns = begun_ns + number * made.round_ns
        if start_ns - begun_ns > seconds * 1e9:
            break
        for i, (due_ns, message) in enumerate(timed(made, number, start_ns)):
            time.sleep(max(0.0, (due_ns - time.time_ns()) / 1e9))
            _produce(producer, message, i % PARTITIONS, time.time_ns() // 1_000_000)
            producer.poll(0)
    producer.flush()


def renew(bootstrap: str, partitions: int = PARTITIONS, **config: str) -> None:
    """Deletes the topic and makes it again, empty. config: properties of the topic, with _ for its dots."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    if TOPIC in admin.list_topics(timeout=30).topics:
        admin.delete_topics([TOPIC], operation_timeout=30)[TOPIC].result(30)
        while TOPIC in admin.list_topics(timeout=30).topics:
            time.sleep(0.2)
    more = {name.replace("_", "."): value for name, value in config.items()}
    admin.create_topics([NewTopic(TOPIC, partitions, 1, config=_CONFIG | more)], operation_timeout=30)[TOPIC].result(30)


def end(bootstrap: str) -> int:
    """How many records were ever written to the topic."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench"})
    try:
        ends = (consumer.get_watermark_offsets(TopicPartition(TOPIC, n), timeout=30)[1] for n in range(PARTITIONS))
        return sum(ends)
    finally:
        consumer.close()


def _producer(bootstrap: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": "lz4",
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "message.max.bytes": 4_000_000,
            "queue.buffering.max.kbytes": 262_144,
        }
    )


def _send(producer: Producer, messages: Iterator[tuple[int, bytes]], partitions: int) -> int:
    sent = 0
    for record_ms, message in messages:
        _produce(producer, message, sent % partitions, record_ms)
        sent += 1
        if sent % 64 == 0:
            producer.poll(0)
    if producer.flush(120):
        raise TimeoutError("Kafka did not take all spans within 120 s")
    return sent


def _produce(producer: Producer, message: bytes, partition: int, record_ms: int) -> None:
    while True:
        try:
            producer.produce(TOPIC, message, partition=partition, timestamp=record_ms)
            return
        except BufferError:
            producer.poll(0.05)
