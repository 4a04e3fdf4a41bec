"""Records that fit the topic and not memory: none is expanded, each is counted, and reading goes on behind it."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from integration.after_bad_input import good_data_counts
from support.batches import CODECS, batch, produce_batch, record
from support.messages import SentSpan, message, produce
from support.reference.counts import JOBS
from support.stack import Stack, eventually
from support.topics import end_offsets, messages_since

SECOND = 1_000_000_000
BOMB = 500_000_000
#: The largest that the local stack's TaskManager reads.
LIMIT = 16 << 20


@pytest.fixture(autouse=True)
def good_data_counts_afterwards(stack: Stack, request: pytest.FixtureRequest) -> Iterator[None]:
    with good_data_counts(stack, request.node.nodeid):
        yield


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
