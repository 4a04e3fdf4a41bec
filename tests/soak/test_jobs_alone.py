"""Deploying by hand: jobs alone, and where a new job begins."""

import time
from datetime import UTC, datetime

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import FlinkJobs
from sluice_kit.local_stack.topics import committed, delete_before, end_offsets
from sluice_kit.reference.truth import TABLES, Table
from sluice_kit.traffic.otlp_http import point, send_metric
from sluice_kit.traffic.sender import OF_SPANS, TRACES, WRITER, Sender, assert_exact
from sluice_kit.waiting import eventually, until
from stack.flink import JOBS


def test_the_job_of_metrics_runs_alone(flink: FlinkJobs, stack: Stack) -> None:
    flink.cancel_all()
    alone = flink.run("resource_metrics", "--no-dead-letters")
    send_metric(stack, {"host.name": "alone"}, "system.cpu.utilization", point(time.time_ns(), 0.25, state="idle"))
    query = "SELECT role, value_sum FROM resource_metrics FINAL WHERE host = 'alone'"
    busy = [{"role": "host_cpu_idle", "value_sum": 250_000_000}]
    assert eventually(lambda: stack.rows(query), busy, steady_s=1.0) == busy
    flink.cancel(alone)


@pytest.mark.parametrize("job", OF_SPANS)
def test_each_job_runs_alone_and_writes_its_own_tables_only(flink: FlinkJobs, stack: Stack, job: str) -> None:
    flink.cancel_all()
    sender = Sender(stack, f"alone-{job}-")
    began = datetime.now(UTC)
    sender.send(sender.traces())
    letters = [] if job == OF_SPANS[0] else ["--no-dead-letters"]
    alone = flink.run(job, *letters, "--start", began.isoformat())
    assert_exact(sender, job)
    others = [table for table in TABLES if WRITER.get(table.name, job) != job]
    assert [table.read(stack, sender.prefix) for table in others] == [{} for _ in others]
    flink.cancel(alone)


def test_a_job_without_state_begins_where_it_is_told(flink: FlinkJobs, stack: Stack) -> None:
    """A time, then the group's offsets; then earliest, after retention has dropped the first records."""
    flink.cancel_all()
    before, during, while_down = (Sender(stack, f"start-{n}-") for n in range(3))
    before.send(before.traces())
    time.sleep(1.0)
    start = datetime.now(UTC)
    during.send(during.traces())
    job = flink.run("concurrency", "--name", "starts", "--start", start.isoformat())
    assert_exact(during, "concurrency")
    # A checkpoint commits its offsets a moment after it is complete. Clock records come all the time.
    ends = [partition.offset for partition in end_offsets(stack, "otlp_spans")]
    until("the job has committed what it read", lambda: reached(committed(stack, "starts", "otlp_spans"), ends))
    flink.cancel(job)

    while_down.send(while_down.traces())
    job = flink.run("concurrency", "--name", "starts", "--start", "group-offsets")
    assert_exact(while_down, "concurrency")
    assert [table.read(stack, before.prefix) for table in TABLES] == [{} for _ in TABLES], "was read from the earliest"
    flink.cancel(job)

    kept = {prefix: windows().read(stack, prefix) for prefix in (during.prefix, while_down.prefix)}
    delete_before(stack, end_offsets(stack, "otlp_spans"))
    after = Sender(stack, "start-3-")  # begins to read where the topic begins now
    after.send(after.traces())
    job = flink.run("concurrency", "--name", "starts", "--start", "earliest")
    assert_exact(after, "concurrency")
    assert {prefix: windows().read(stack, prefix) for prefix in kept} == kept
    flink.cancel(job)


def test_without_clock_records_traces_are_closed_by_the_machines_clock(flink: FlinkJobs, stack: Stack) -> None:
    """For who may not write to the topic."""
    flink.cancel_all()
    sender = Sender(stack, "unclocked-")
    began = datetime.now(UTC)
    sender.send(sender.traces(5))
    end = [partition.offset for partition in end_offsets(stack, "otlp_spans")]
    job = flink.run("critical_paths", "--no-dead-letters", "--start", began.isoformat(), "--clock-records-ms", "0")
    query = "SELECT sum(traces) FROM trace_counts FINAL WHERE startsWith(service, 'unclocked-') AND cause != 'late'"
    until("closed traces", lambda: int(stack.value(query)) >= 5)
    assert [partition.offset for partition in end_offsets(stack, "otlp_spans")] == end
    flink.cancel(job)


def test_what_was_deleted_before_a_savepoint_was_restored_is_counted(flink: FlinkJobs, stack: Stack) -> None:
    """For each partition, at another parallelism; nothing is missing where reading began, nor before the savepoint."""
    flink.cancel_all()
    before, deleted, after = (Sender(stack, f"gap-{n}-") for n in range(3))
    before.send(before.traces())
    job = flink.run("concurrency", "--name", "gaps", "--start", "earliest")
    assert_exact(before, "concurrency")
    savepoint = flink.stop(job)
    # The savepoint is somewhere in between, among clock records: what it read is committed after a checkpoint, and not
    # always after a savepoint that ends the job.
    least, most = committed(stack, "gaps", "otlp_spans"), end_offsets(stack, "otlp_spans")
    deleted.send(deleted.traces())
    first_read = end_offsets(stack, "otlp_spans")
    delete_before(stack, first_read)
    after.send(after.traces())

    job = flink.run("concurrency", "--name", "gaps", savepoint=savepoint, parallelism=2)
    query = """SELECT partition, toInt32(first_missing) AS first_missing, toInt32(first_read) AS first_read
               FROM offset_gaps FINAL WHERE flink_job = 'gaps' ORDER BY partition"""
    until("a gap in each partition", lambda: len(stack.rows(query)) == len(first_read))
    gaps = stack.rows(query)
    assert [(gap["partition"], gap["first_read"]) for gap in gaps] == [
        (end.partition, end.offset) for end in first_read
    ]
    assert all(low <= gap["first_missing"] <= high.offset for low, gap, high in zip(least, gaps, most, strict=True)), (
        least,
        gaps,
        most,
    )
    assert windows().read(stack, deleted.prefix) == {}
    flink.cancel(job)


def reached(offsets: list[int], ends: list[int]) -> bool:
    return all(offset >= end for offset, end in zip(offsets, ends, strict=True))


def windows() -> Table:
    return next(table for table in TABLES if table.name == "windows")


def test_a_savepoint_is_restored_at_two_parallelisms_and_on_another_backend(flink: FlinkJobs, stack: Stack) -> None:
    """Traces are open and sums half made in each of two savepoints."""
    flink.cancel_all()
    sender = Sender(stack, "savepoints-")
    thirds = sender.traces(3 * TRACES)
    first = flink.run(*JOBS, "--name", "first", "--start", datetime.now(UTC).isoformat())
    sender.send(thirds[:TRACES])
    savepoint = flink.stop(first)

    wider = flink.run(*JOBS, "--name", "wider", savepoint=savepoint, parallelism=2)
    sender.send(thirds[TRACES : 2 * TRACES])
    savepoint = flink.stop(wider)

    on_heap = flink.run(*JOBS, "--name", "back-on-heap", savepoint=savepoint, parallelism=1, backend="hashmap")
    sender.send(thirds[2 * TRACES :])
    assert_exact(sender, *OF_SPANS)
    flink.cancel(on_heap)
