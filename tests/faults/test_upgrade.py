"""Deploying by hand: savepoints across parallelism and state backend, jobs alone, and where a new job begins."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from faults.flink_jobs import FlinkJobs, keeper_at_rest
from faults.traffic import trace
from stack.flink import JOBS
from support.messages import PARTITIONS, SentSpan, message, produce
from support.otlp_http import point, send_metric
from support.stack import Stack, eventually
from support.topics import committed, end_offsets
from support.truth import TABLES, Reference, Rows, Table, records_since, settled

S = 1_000_000_000
TRACES = 200
# Which job writes a table; both write ingest_counts, each rows of its own.
OF_SPANS = [job for job in JOBS if job != "resource_metrics"]
WRITER = {table.name: table.job for table in TABLES if table.name != "ingest_counts"}


@pytest.fixture(scope="module")
def flink(stack: Stack) -> Iterator[FlinkJobs]:
    with keeper_at_rest(stack) as jobs:
        yield jobs


@dataclass
class Sender:
    """Sends traces whose services begin with `prefix`, past the collector, and knows what the tables then hold."""

    stack: Stack
    prefix: str
    seed: int = 0

    def __post_init__(self) -> None:
        self._start = end_offsets(self.stack, "otlp_spans")

    def send(self, traces: list[list[SentSpan]]) -> None:
        sent = [message(span for each in traces[n : n + 20] for span in each) for n in range(0, len(traces), 20)]
        produce(self.stack.address["SLUICE_KAFKA"], [(value, n % PARTITIONS) for n, value in enumerate(sent)])

    def traces(self, count: int = TRACES) -> list[list[SentSpan]]:
        self.seed += 1
        rng = random.Random(f"{self.prefix}{self.seed}")
        now = time.time_ns()
        return [trace(rng, self.prefix, now - rng.randrange(5 * S)) for _ in range(count)]

    def reference(self) -> Reference:
        records = records_since(self.stack, self._start)
        return Reference(record for record in records if self.prefix.encode() in (record.message or b""))

    def differences(self, table: Table, job: str, reference: Reference) -> list[str]:
        """Of the rows of `table` that `job` writes."""
        expected = written_by(job, table, table.expected(reference))
        assert expected
        actual = written_by(job, table, table.read(self.stack, self.prefix))
        return [
            f"{key}: {actual.get(key)}, not {expected.get(key)}"
            for key in actual.keys() | expected.keys()
            if actual.get(key) != expected.get(key)
        ]


def written_by(job: str, table: Table, rows: Rows) -> Rows:
    if table.name == "ingest_counts":
        return {key: row for key, row in rows.items() if key[0] == job}
    return rows if WRITER[table.name] == job else {}


def assert_exact(sender: Sender, *jobs: str) -> None:
    reference = sender.reference()
    for job in jobs:
        for table in TABLES:
            if WRITER.get(table.name, job) == job:
                differences = settled(lambda t=table, j=job: sender.differences(t, j, reference))
                assert not differences, f"{table.name} of {job}:\n" + "\n".join(differences[:10])


def test_a_savepoint_is_restored_at_another_parallelism_and_on_another_backend(flink: FlinkJobs, stack: Stack) -> None:
    """Traces stay open and sums half made in each savepoint."""
    sender = Sender(stack, "savepoint-")
    thirds = sender.traces(3 * TRACES)
    sender.send(thirds[:TRACES])
    savepoint = flink.stop(flink.only())

    wider = flink.run(*JOBS, "--name", "wider", savepoint=savepoint, parallelism=2)
    sender.send(thirds[TRACES : 2 * TRACES])
    savepoint = flink.stop(wider)

    on_heap = flink.run(*JOBS, "--name", "on-heap", savepoint=savepoint, parallelism=1, backend="hashmap")
    sender.send(thirds[2 * TRACES :])
    assert_exact(sender, *OF_SPANS)
    flink.cancel(on_heap)


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
    # A checkpoint commits its offsets a moment after it is complete.
    ends = [each.offset for each in end_offsets(stack, "otlp_spans")]
    assert eventually(lambda: committed(stack, "starts", "otlp_spans"), ends, steady_s=0.0) == ends
    flink.cancel(job)

    while_down.send(while_down.traces())
    job = flink.run("concurrency", "--name", "starts", "--start", "group-offsets")
    assert_exact(while_down, "concurrency")
    assert [table.read(stack, before.prefix) for table in TABLES] == [{} for _ in TABLES], "was read from the earliest"
    flink.cancel(job)

    kept = {prefix: windows().read(stack, prefix) for prefix in (during.prefix, while_down.prefix)}
    drop(stack, end_offsets(stack, "otlp_spans"))
    after = Sender(stack, "start-3-")  # begins to read where the topic begins now
    after.send(after.traces())
    job = flink.run("concurrency", "--name", "starts", "--start", "earliest")
    assert_exact(after, "concurrency")
    assert {prefix: windows().read(stack, prefix) for prefix in kept} == kept
    flink.cancel(job)


def windows() -> Table:
    return next(table for table in TABLES if table.name == "windows")


def drop(stack: Stack, until: list[TopicPartition]) -> None:
    """Deletes the records before these offsets, as retention does."""
    admin = AdminClient({"bootstrap.servers": stack.address["SLUICE_KAFKA"]})
    for future in admin.delete_records(until).values():
        future.result(timeout=30)
