"""Records that the topic deleted before the job had read them: it goes on behind them, and says how many there were."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import TopicPartition

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.running_job import running
from sluice_kit.local_stack.topics import delete_before, end_offsets
from sluice_kit.traffic.messages import SentSpan, message, produce
from sluice_kit.waiting import eventually

SECOND = 1_000_000_000
PARTITION = 1
SENT = 40
#: A few that were written and not read before the process stood still.
CLOCK_RECORDS = 10


def spans(service: str, count: int) -> list[tuple[bytes | None, int]]:
    """A message of one span each, all for one partition."""
    now = time.time_ns()
    return [
        (message([SentSpan(service, os.urandom(16), os.urandom(8), b"", "SERVER", now - SECOND, now)]), PARTITION)
        for _ in range(count)
    ]


@contextmanager
def standing_still(stack: Stack) -> Iterator[None]:
    """The job's process gets no time; what it had asked of Kafka before is answered at once, with nothing."""
    pids = running(stack).taskmanagers
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(2.0)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def counted(stack: Stack, service: str) -> int:
    return int(stack.value(f"SELECT toUInt32(sum(completions)) FROM v_windows WHERE service = '{service}'"))


def test_deleted_records_are_counted_and_the_next_ones_read(stack: Stack) -> None:
    kafka = stack.address["SLUICE_KAFKA"]
    produce(kafka, spans("missed-before", 1))
    assert eventually(lambda: counted(stack, "missed-before"), 1, steady_s=0) == 1
    with standing_still(stack):
        # Nobody writes clock records meanwhile.
        (first,) = (end.offset for end in end_offsets(stack, "otlp_spans") if end.partition == PARTITION)
        last = first + SENT
        produce(kafka, spans("missed", SENT))
        delete_before(stack, [TopicPartition("otlp_spans", PARTITION, last)])
    produce(kafka, spans("missed-after", 3))

    assert eventually(lambda: counted(stack, "missed-after"), 3) == 3
    query = f"""SELECT partition, toInt32(first_missing) AS first_missing, toInt32(first_read) AS first_read
                FROM offset_gaps FINAL WHERE topic = 'otlp_spans' AND first_read >= {last}"""
    assert eventually(lambda: len(stack.rows(query)), 1) == 1
    (gap,) = stack.rows(query)
    assert (gap["partition"], gap["first_read"]) == (PARTITION, last)
    # Should the job have had an answer under way after all, it has read some of them: none is both. Of clock records
    # before them it may have read none.
    read = counted(stack, "missed")
    assert read < SENT
    assert first - CLOCK_RECORDS <= gap["first_missing"] <= first + read

    doctor = stack.sluice("doctor", "--timeout", "30").stdout
    missed = gap["first_read"] - gap["first_missing"]
    assert f"{missed} of otlp_spans/{PARTITION}" in " ".join(doctor.split())
