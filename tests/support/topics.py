"""Reading whole stretches of a Kafka topic."""

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

from support.stack import Stack


def end_offsets(stack: Stack, topic: str) -> list[TopicPartition]:
    """Where the topic ends now, one entry a partition."""
    with _consumer(stack) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        return [
            TopicPartition(topic, p, consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)[1])
            for p in partitions
        ]


def messages_since(stack: Stack, start: list[TopicPartition]) -> list[bytes]:
    """Every message from `start` to the topic's present end."""
    end = end_offsets(stack, start[0].topic)
    left = sum(b.offset - a.offset for a, b in zip(start, end, strict=True))
    messages = []
    with _consumer(stack) as consumer:
        consumer.assign(start)
        while left:
            message = consumer.poll(10.0)
            if message is None or message.error():
                raise AssertionError(f"{start[0].topic} ended {left} messages early: {message and message.error()}")
            messages.append(message.value())
            left -= 1
    return messages


@contextmanager
def _consumer(stack: Stack) -> Iterator[Consumer]:
    consumer = Consumer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "group.id": "tests"})
    try:
        yield consumer
    finally:
        consumer.close()
