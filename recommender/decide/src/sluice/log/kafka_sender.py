"""Writes records to a Kafka topic, in order, each once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from sluice.log.kafka_reader import quiet

POLL_S = 0.5
# After so long without an acknowledgement it is said that the topic cannot be written.
SLOW_S = 5.0


class KafkaSender:
    """A `Send` of `Writer` to partition 0 of a topic.

    The client tries again by itself, with back-off and jitter, and for ever (`message.timeout.ms` 0): a record that it
    gave up could still arrive, behind a newer one. What it refuses at once, such as a record that is too large, and an
    unknown topic, is left to the caller's tries.
    """

    def __init__(self, client: Mapping[str, Any], topic: str, slow: Callable[[Exception], None]) -> None:
        self._settings = {
            **client,
            "enable.idempotence": True,
            "message.timeout.ms": 0,
            "compression.type": "lz4",
            "linger.ms": 5,
        }
        self._topic, self._slow = topic, slow
        self._producer: Producer | None = None
        self._ended = threading.Event()

    def __call__(self, values: Mapping[str, bytes]) -> set[str]:
        """Returns when each is stored or refused, or after `end`."""
        producer = self._producer = self._producer or Producer(self._settings, logger=quiet)
        stored: set[str] = set()
        refused: list[KafkaError] = []

        def told(error: KafkaError | None, message: Message) -> None:
            if error is None:
                stored.add((message.key() or b"").decode())
            else:
                refused.append(error)

        for name, value in values.items():
            producer.produce(self._topic, value, name.encode(), partition=0, on_delivery=told)
        self._wait(producer, lambda: len(stored) + len(refused))
        if any(error.fatal() for error in refused):
            self._producer = None
        if refused:
            self._slow(KafkaException(refused[0]))
        return stored

    def end(self) -> None:
        """Gives up what is not written."""
        self._ended.set()

    def _wait(self, producer: Producer, told: Callable[[], int]) -> None:
        since, before = time.monotonic(), told()
        while producer.flush(POLL_S) and not self._ended.is_set():
            now = time.monotonic()
            if told() != before:
                since, before = now, told()
            elif now - since >= SLOW_S:
                self._slow(TimeoutError(f"no record was acknowledged for {SLOW_S:g} s"))
                since = now
        if self._ended.is_set():
            producer.purge()
