"""Sends traces past the collector, and compares what each job then writes with the reference."""

import random
import time
from dataclasses import dataclass
from functools import partial

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.truth import TABLES, Reference, Rows, Table, records_since
from sluice_kit.traffic.messages import PARTITIONS, SentSpan, message, produce
from sluice_kit.traffic.traffic import trace
from sluice_kit.waiting import settled
from stack.flink import JOBS

S = 1_000_000_000
TRACES = 200
# Which job writes a table; both write ingest_counts, each rows of its own.
OF_SPANS = [job for job in JOBS if job != "resource_metrics"]
WRITER = {table.name: table.job for table in TABLES if table.name != "ingest_counts"}


@dataclass
class Sender:
    """Sends traces whose services begin with `prefix`, past the collector, and knows what the tables then hold."""

    stack: Stack
    prefix: str
    seed: int = 0

    def __post_init__(self) -> None:
        self._start = end_offsets(self.stack, "otlp_spans")

    def send(self, traces: list[list[SentSpan]]) -> None:
        sent = [message(span for spans in traces[n : n + 20] for span in spans) for n in range(0, len(traces), 20)]
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
        assert expected or table.seldom
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
    probes = {
        (job, table.name): partial(sender.differences, table, job, reference)
        for job in jobs
        for table in TABLES
        if WRITER.get(table.name, job) == job
    }
    for (job, table), differences in settled(probes).items():
        assert not differences, f"{table} of {job}:\n" + "\n".join(differences[:10])
