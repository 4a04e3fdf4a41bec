"""All of a compacted topic: the newest value of each key, up to where the topic ends now."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from sluice.control.state_log import NotThereError

log = logging.getLogger(__name__)
# librdkafka's own words: what it cannot do is told by what is raised.
quiet = logging.getLogger(f"{__name__}.client")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False

ASK_S = 10.0
BATCH, POLL_S = 1_000, 0.2
SAID_EVERY_S = 2.0


def read_all(client: Mapping[str, Any], topic: str, within_s: float) -> dict[str, bytes]:
    """Partition 0 of `topic`. {} is an empty topic; NotThereError when there is none, when no broker answers within
    10 s, or when the end is not reached within `within_s`."""
    began = time.monotonic()
    settings = {
        **client,
        "group.id": "sluice-state",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
    }
    consumer = Consumer(settings, logger=quiet)
    try:
        end = _end(consumer, topic, min(ASK_S, within_s))
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        return _up_to(consumer, topic, end, began, within_s)
    except KafkaException as cause:
        raise NotThereError(f"read {topic}: {cause.args[0].str()}") from cause
    finally:
        consumer.close()


def _end(consumer: Consumer, topic: str, timeout_s: float) -> int:
    """The offset of the next record."""
    about = consumer.list_topics(topic, timeout=timeout_s).topics[topic]
    if about.error is not None:
        raise NotThereError(f"read {topic}: {about.error.str()}")
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=timeout_s)
    return int(end)


def _up_to(consumer: Consumer, topic: str, end: int, began: float, within_s: float) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at, said = 0, began
    while at < end:
        now = time.monotonic()
        if now - began > within_s:
            raise NotThereError(f"read {topic}: at {at:,} of {end:,} records after {within_s:g} s")
        if now - said >= SAID_EVERY_S:
            log.info("restoring states: at %s of %s records of %s", f"{at:,}", f"{end:,}", topic)
            said = now
        for message in consumer.consume(BATCH, POLL_S):
            error = message.error()
            if error is None:
                _take(found, message)
                at = (message.offset() or 0) + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                # Offsets have gaps, at the end too: where records were compacted, and where a transaction ended.
                at = end
            elif not error.retriable():
                raise KafkaException(error)
    log.info("restored %s records of %s in %.1f s", f"{len(found):,}", topic, time.monotonic() - began)
    return found


def _take(found: dict[str, bytes], message: Message) -> None:
    name = (message.key() or b"").decode(errors="backslashreplace")
    value = message.value()
    if value is None:
        found.pop(name, None)
    else:
        found[name] = value
