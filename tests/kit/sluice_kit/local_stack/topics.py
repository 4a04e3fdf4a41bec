"""Reading whole stretches of a Kafka topic."""

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from sluice_kit.local_stack.driver import Stack


def end_offsets(stack: Stack, topic: str) -> list[TopicPartition]:
    """Where the topic ends now, one entry a partition."""
    with _consumer(stack) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        return [
            TopicPartition(topic, p, consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)[1])
            for p in partitions
        ]


def committed(stack: Stack, group: str, topic: str) -> list[int]:
    """The offsets that the group has committed, a partition each; negative where it has not."""
    with _consumer(stack, group) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        return [
            partition.offset
            for partition in consumer.committed([TopicPartition(topic, p) for p in partitions], timeout=10)
        ]


def messages_since(stack: Stack, start: list[TopicPartition]) -> list[bytes]:
    """The values of `read_since`."""
    return [message.value() or b"" for message in read_since(stack, start)]


def read_since(stack: Stack, start: list[TopicPartition]) -> list[Message]:
    """Every committed message from `start` to the topic's present end, those of a partition in their order.

    Reads up to each partition's end: offsets are not counts, since a transaction's markers take offsets too.
    """
    messages = []
    with _consumer(stack) as consumer:
        consumer.assign(start)
        open_partitions = {partition.partition for partition in start}
        while open_partitions:
            message = consumer.poll(10.0)
            if message is None:
                raise AssertionError(f"{start[0].topic} did not come to its end within 10 s")
            error = message.error()
            if error is None:
                messages.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                # More than once, where records still come: clock records do.
                open_partitions.discard(message.partition())
            else:
                raise AssertionError(f"read {start[0].topic}: {error}")
    return messages


def delete_before(stack: Stack, until: list[TopicPartition]) -> None:
    """Deletes the records before these offsets, as retention does."""
    admin = AdminClient({"bootstrap.servers": stack.address["SLUICE_KAFKA"]})
    for future in admin.delete_records(until).values():
        future.result(timeout=30)


@contextmanager
def _consumer(stack: Stack, group: str = "tests") -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": stack.address["SLUICE_KAFKA"],
            "group.id": group,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()
