"""Messages and records that are small on the topic and large in memory: each is counted, and reading goes on."""

import json
import time
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from integration.masses import outcomes
from support.batches import CODECS, batch, produce_batch, record
from support.messages import SentSpan, message, produce
from support.reference.counts import JOBS
from support.stack import Stack
from support.topics import end_offsets, messages_since
from support.waiting import eventually
from support.wire import field

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
EMPTY = 2_000_000
#: Dead letters of one message and reason.
LETTERS = 10
BOMB = 500_000_000
#: The largest that the local stack's TaskManager reads.
LIMIT = 16 << 20


def good(service: str) -> bytes:
    now = time.time_ns()
    return message([SentSpan(service, now.to_bytes(16, "big"), b"span-one", b"", "SERVER", now - SECOND, now)])


def messages(stack: Stack, outcome: str) -> dict[str, int]:
    rows = stack.rows(
        f"SELECT job, sum(messages) AS m FROM ingest_counts FINAL WHERE outcome = '{outcome}' GROUP BY job"
    )
    return {row["job"]: int(row["m"]) for row in rows}


def more(before: dict[str, int], jobs: tuple[str, ...], by: int) -> dict[str, int]:
    return before | {job: before.get(job, 0) + by for job in jobs}


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
    found = letters(stack, start)
    assert [(letter["reason"], letter["service"]) for letter in found] == [("bad_id", "empty")] * LETTERS
    assert found[-1]["detail"].endswith(f"; {EMPTY - LETTERS} more in this message")


@pytest.mark.parametrize("codec", CODECS)
def test_a_record_that_expands_to_500_megabytes(stack: Stack, codec: str) -> None:
    """Its neighbours in the batch count; the dead letter says where it is."""
    before, start = messages(stack, "record_too_large"), end_offsets(stack, "otlp_dead_letter")
    service = f"beside-{codec}"
    values = [[good(service)], [BOMB], [good(service)]]
    packed = batch([record(value, number) for number, value in enumerate(values)], codec)
    offset = produce_batch(stack.address["SLUICE_KAFKA"], "otlp_spans", 1, packed)

    expected = more(before, JOBS, 1)
    assert eventually(lambda: messages(stack, "record_too_large"), expected) == expected
    query = f"SELECT toUInt32(sum(completions)) FROM v_windows WHERE service = '{service}'"
    assert eventually(lambda: stack.value(query), 2) == 2
    (letter,) = letters(stack, start)
    assert (letter["reason"], letter["topic"], letter["partition"]) == ("record_too_large", "otlp_spans", 1)
    assert letter["offset"] == offset + 1
    # Around the value: two bytes, the number, no key, the value's length in 5 bytes, no headers.
    assert letter["detail"] == f"record of {BOMB + 10} bytes: at most {LIMIT} are read"
    assert "payload" not in letter


def test_a_record_of_snappy_counts(stack: Stack) -> None:
    """Which expands by 21 at most: it makes no bomb that fits the topic. The other codecs are above."""
    produce(stack.address["SLUICE_KAFKA"], [(good("beside-snappy"), 1)], compression="snappy")
    query = "SELECT toUInt32(sum(completions)) FROM v_windows WHERE service = 'beside-snappy'"
    assert eventually(lambda: stack.value(query), 1) == 1


def test_metrics_that_expand_to_500_megabytes(stack: Stack) -> None:
    before, start = messages(stack, "record_too_large"), end_offsets(stack, "otlp_dead_letter")
    offset = produce_batch(stack.address["SLUICE_KAFKA"], "otlp_metrics", 0, batch([record([BOMB], 0)], "zstd"))
    expected = more(before, ("resource_metrics",), 1)
    assert eventually(lambda: messages(stack, "record_too_large"), expected) == expected
    (letter,) = letters(stack, start)
    assert (letter["reason"], letter["topic"], letter["offset"]) == ("record_too_large", "otlp_metrics", offset)


def test_many_records_that_are_read_and_do_not_fit_memory_together(stack: Stack) -> None:
    """One batch of 20 KB, 600 MB of records that are each a little smaller than the limit: a poll ends before all."""
    count = 40
    before = messages(stack, "malformed_message")
    packed = batch([record([LIMIT - (1 << 20)], number) for number in range(count)], "zstd")
    produce_batch(stack.address["SLUICE_KAFKA"], "otlp_spans", 0, packed)
    expected = more(before, JOBS, count)
    assert eventually(lambda: messages(stack, "malformed_message"), expected) == expected
