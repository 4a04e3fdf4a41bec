"""Tables equal the batch truth whatever fails, and whatever is read late: at parallelism 2, with hard traffic.

Each trace is split over messages and both partitions, no peer is named, spans come again in other messages. Of what is
killed TaskManager and JobManager make the job read the topic again; then one partition is held up for 10 s.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import FlinkJobs
from sluice_kit.local_stack.topics import committed, end_offsets
from sluice_kit.local_stack.victims import Victims
from sluice_kit.reference.graph import calls_in_neo4j, newest_calls
from sluice_kit.reference.truth import TABLES, Reference, check_all, records_since
from sluice_kit.servers.slow_reader import slowed
from sluice_kit.traffic.hard_traffic import HardTraffic
from sluice_kit.traffic.messages import TOPIC
from sluice_kit.waiting import eventually, until
from stack.flink import JOB_NAME, JOBS

PREFIX = "exact-"
TRACES_PER_S = 80
#: Records of a partition in a second: a message each 0.1 s, and a clock record.
RECORDS_PER_S = 11
DELAY_S = 10
#: A quarter, at most, of what comes to a partition.
SLOW_BYTES_PER_S = 4_000
# Longer than a checkpoint's interval: each failure finds another state than the one before left.
PAUSE_S = 5.0


class Course:
    """What is done to the job, one thing after the other; it is current again after each."""

    def __init__(self, stack: Stack, flink: FlinkJobs) -> None:
        self._stack = stack
        self._flink = flink
        self._victims = Victims(stack)
        self._job = flink.run(*JOBS, "--start", datetime.now(UTC).isoformat(), parallelism=2)

    def kill(self, name: str) -> None:
        killed = self._victims.kill(name)
        self._victims.wait_back(name, killed)
        self.current()

    def kill_and_restore(self, name: str) -> None:
        """One that the job does not outlive, or begins again from its checkpoint after; it then reads unevenly."""
        with self._one_partition_late():
            killed = self._victims.kill(name)
            self._victims.wait_back(name, killed)
            if name == "flink-jobmanager":  # the cluster forgets its jobs, as the keeper of the local stack knows
                self._run(self._flink.newest_checkpoint(self._job), 2)
        self.current()

    def rescale(self, parallelism: int) -> None:
        savepoint = self._flink.stop(self._job)
        with self._one_partition_late():
            self._run(savepoint, parallelism)
        self.current()

    def _run(self, snapshot: str, parallelism: int) -> None:
        self._job = self._flink.run(*JOBS, savepoint=snapshot, parallelism=parallelism)

    @contextmanager
    def _one_partition_late(self) -> Iterator[None]:
        """Whoever reads one of the partitions after the block is held up until it is DELAY_S behind the other."""

        def uneven() -> bool:
            behind = self._behind()
            return max(behind) - min(behind) >= DELAY_S * RECORDS_PER_S

        # Flink's readers are called by the consumer group and their number.
        with slowed(self._stack, f"{JOB_NAME}-1", SLOW_BYTES_PER_S):
            yield
            until(f"one partition is read {DELAY_S} s behind the other", uneven)

    def _behind(self) -> list[int]:
        """Records of each partition that are not done: by the newest checkpoint."""
        done = committed(self._stack, JOB_NAME, TOPIC)
        ends = end_offsets(self._stack, TOPIC)
        return [end.offset - offset for end, offset in zip(ends, done, strict=True)]

    def current(self) -> None:
        """Returns when all that is on the topic now is read, and a checkpoint or two later."""
        ends = [end.offset for end in end_offsets(self._stack, TOPIC)]

        def read() -> bool:
            done = committed(self._stack, JOB_NAME, TOPIC)
            return all(offset >= end for offset, end in zip(done, ends, strict=True))

        until("the job has read what was there", read)
        time.sleep(PAUSE_S)


def test_tables_equal_the_log_whatever_fails(
    flink: FlinkJobs, stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    flink.cancel_all()
    start = end_offsets(stack, TOPIC)
    course = Course(stack, flink)
    with HardTraffic(stack.address["SLUICE_KAFKA"], PREFIX, TRACES_PER_S, seed=15) as traffic:
        course.current()
        faults: list[tuple[Callable[[Any], None], Any]] = [
            (course.kill_and_restore, "flink-taskmanager"),
            (course.kill, "clickhouse"),
            (course.kill, "kafka"),
            (course.kill_and_restore, "flink-jobmanager"),
            (course.rescale, 3),
            (course.rescale, 2),
        ]
        for what, name in faults:
            began = time.monotonic()
            what(name)
            with capsys.disabled():
                print(f"\n{name}: current after {time.monotonic() - began:.0f} s", end="", flush=True)
        traffic.stop()

    records = [record for record in records_since(stack, start) if PREFIX.encode() in (record.message or b"")]
    reference = Reference(records)
    assert {span.span_id for record in reference.read for span in record.spans or []} == traffic.sent
    with capsys.disabled():
        print(f"\n{summary(reference)}", flush=True)
    check_all(stack, PREFIX, reference, TABLES)
    newest = newest_calls(reference)
    assert eventually(lambda: calls_in_neo4j(stack, PREFIX), newest) == newest
    early = f"""SELECT * FROM trace_counts FINAL
                WHERE cause = 'closed_early' AND traces > 0 AND startsWith(service, '{PREFIX}')"""
    assert stack.rows(early) == []


def summary(reference: Reference) -> str:
    """What of it was hard; fails where nothing was."""
    duplicates = sum(len(trace.duplicates) for trace in reference.traces)
    repeats = sum(record.repeated for record in reference.read)
    split = len(reference.traces) - len({trace.trace_id for trace in reference.traces})
    assert duplicates
    assert repeats
    assert split
    spans = sum(len(trace.spans) for trace in reference.traces)
    return (
        f"{spans} spans in {len(reference.traces)} traces, {split} of them late; "
        f"{duplicates} spans and {repeats} messages came again"
    )
