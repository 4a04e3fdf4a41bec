"""A message that is small on the topic and large in memory, and records of every codec: all are counted."""

import json
import time
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.reference.counts import JOBS
from sluice_kit.traffic.masses import outcomes
from sluice_kit.traffic.messages import SentSpan, message, produce
from sluice_kit.traffic.wire import field
from sluice_kit.waiting import eventually

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
EMPTY = 2_000_000
#: Dead letters of one message and reason.
LETTERS = 10


def good(service: str) -> bytes:
    now = time.time_ns()
    return message([SentSpan(service, now.to_bytes(16, "big"), b"span-one", b"", "SERVER", now - SECOND, now)])


def letters(stack: Stack, start: list[TopicPartition]) -> list[dict[str, Any]]:
    return [json.loads(letter) for letter in messages_since(stack, start)]


def test_two_million_empty_spans_in_one_message(stack: Stack) -> None:
    """Two bytes each: all are counted, and few become letters, the last of which says how many more there were."""
    start = end_offsets(stack, "otlp_dead_letter")
    (sent,) = ExportTraceServiceRequest.FromString(good("empty")).resource_spans
    spans = field(1, sent.resource.SerializeToString()) + field(2, field(2, b"") * EMPTY)
    produce(stack.address["SLUICE_KAFKA"], [(field(1, spans), 0)])
    for job in JOBS:
        assert eventually(lambda job=job: outcomes(stack, job, "empty"), {"bad_id": EMPTY}) == {"bad_id": EMPTY}
    dead_letters = letters(stack, start)
    assert [(letter["reason"], letter["service"]) for letter in dead_letters] == [("bad_id", "empty")] * LETTERS
    assert dead_letters[-1]["detail"].endswith(f"; {EMPTY - LETTERS} more in this message")


@pytest.mark.parametrize("codec", ["gzip", "lz4", "snappy", "zstd"])
def test_records_of_every_codec_count(stack: Stack, codec: str) -> None:
    service = f"packed-by-{codec}"
    produce(stack.address["SLUICE_KAFKA"], [(good(service), 1)], compression=codec)
    query = f"SELECT toUInt32(sum(completions)) FROM v_windows WHERE service = '{service}'"
    assert eventually(lambda: stack.value(query), 1) == 1
