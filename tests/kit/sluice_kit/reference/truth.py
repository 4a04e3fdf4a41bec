"""The tables of a stack against the batch reference: which rows differ, told so that a person sees why."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TopicPartition

from schema.flink import written_tables
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import read_since
from sluice_kit.reference import (
    clocks,
    containers,
    counts,
    edges,
    left_out,
    paths,
    peers,
    sampling,
    sizes,
    spans,
    traces,
    trees,
    windows,
)
from sluice_kit.reference.settings import setting
from sluice_kit.reference.spans import Record
from sluice_kit.waiting import settled
from stack.flink import JOBS

Row = dict[str, Any]
Rows = dict[tuple[Any, ...], Row]
#: Columns whose parts are rounded: each request may be 1 apart.
ROUNDED = ("ln_sum", "ln_sum2")
TABLES_OF_JOBS = written_tables()
#: How a column of a type comes: times as numbers, 128 bits as text.
_SELECTED = {
    "DateTime('UTC')": "toUnixTimestamp({0})",
    "DateTime64(3, 'UTC')": "toUnixTimestamp64Milli({0})",
    "UInt128": "toString({0}) AS {0}",
}


class Reference:
    """What the tables must hold of these records, and of nothing else. first: copies that were read before others."""

    def __init__(self, records: Iterable[Record], first: Container[spans.Position] = ()) -> None:
        self._first = first
        self.records = sorted(records, key=lambda record: (record.received_ms, record.partition, record.offset))

    @cached_property
    def read(self) -> list[spans.Read]:
        return spans.read(self.records, self._first)

    @cached_property
    def traces(self) -> list[traces.Trace]:
        return traces.traces(spans.accepted(self.read))

    def windows(self) -> Rows:
        return _rows(windows.windows(peers.peers(self.traces)))

    def instance_clocks(self) -> Rows:
        return _rows(clocks.clocks(spans.accepted(self.read)))

    def service_sampling(self) -> Rows:
        return _rows(sampling.sampling(spans.accepted(self.read)))

    def call_edges(self) -> Rows:
        return _rows(edges.edges(self.traces))

    def container_calls(self) -> Rows:
        return _rows(edges.container_calls(self.traces))

    def call_trees(self) -> Rows:
        return _rows(trees.trees(self.traces))

    def ingest_counts(self) -> Rows:
        rows: Rows = {}
        for job in set(JOBS) & set(counts.JOBS):
            rows |= _rows(counts.counts(job, self.read, self.traces))
        return rows

    def container_latency(self) -> Rows:
        return _rows(containers.samples(spans.accepted(self.read)))

    def container_own_time(self) -> Rows:
        return _rows(containers.own_times(self.traces))

    def data_sizes(self) -> Rows:
        return _rows(sizes.sizes(spans.accepted(self.read)))

    def spans_left_out(self) -> Rows:
        return _rows(left_out.left_out(spans.accepted(self.read), self.traces))

    def critical_paths(self) -> Rows:
        return _rows(paths.path_rows(self.traces))

    def path_services(self) -> Rows:
        return _rows(paths.service_rows(self.traces))

    def trace_counts(self) -> Rows:
        return _rows(paths.cause_rows(self.traces, setting("trace-late-ms")))


@dataclass(frozen=True)
class Table:
    """A table of ClickHouse and its reference.

    `services` are the columns that name the services of a row: rows are a test's when one of them is. `seldom`: traffic
    may make no row of it.
    """

    name: str
    job: str
    services: tuple[str, ...]
    expected: Callable[[Reference], Rows]
    condition: str = "true"
    seldom: bool = False

    @property
    def key(self) -> int:
        """How many columns of the query are its key, the first ones."""
        return len(TABLES_OF_JOBS[self.name].key)

    @property
    def query(self) -> str:
        """What jobs write but lengths of windows and version; {of} is a condition on services."""
        table = TABLES_OF_JOBS[self.name]
        columns = [column for column in table.columns if column.name in table.key] + [*table.values]
        names = ", ".join(_SELECTED.get(column.type, "{0}").format(column.name) for column in columns)
        return f"SELECT {names} FROM {self.name} FINAL WHERE {{of}} AND {self.condition}"

    def read(self, stack: Stack, prefix: str) -> Rows:
        """The rows of services whose names begin with `prefix`; rows whose sums are all zero do not count."""
        condition = " OR ".join(f"startsWith({column}, '{prefix}')" for column in self.services)
        rows = {}
        for row in stack.rows(self.query.format(of=f"({condition})")):
            if self.name == "call_trees":
                row["tree"] = trees.plain(row["tree"])
            names = list(row)
            rows[tuple(row[name] for name in names[: self.key])] = {name: row[name] for name in names[self.key :]}
        wide = [column.name for column in TABLES_OF_JOBS[self.name].values if column.type == "UInt128"]
        return _plain(rows, wide)

    def differences(self, stack: Stack, prefix: str, expected: Rows) -> list[str]:
        """One line a row that differs; empty when the table is exact."""
        return list(_differences(self.read(stack, prefix), expected))


ALL_TABLES = (
    Table("windows", "concurrency", ("service",), Reference.windows),
    Table("instance_clocks", "concurrency", ("service",), Reference.instance_clocks),
    Table("service_sampling", "concurrency", ("service",), Reference.service_sampling),
    Table("call_edges", "call_graph", ("caller", "callee"), Reference.call_edges),
    Table("container_calls", "call_graph", ("caller", "callee"), Reference.container_calls, seldom=True),
    Table("call_trees", "call_graph", ("root_service",), Reference.call_trees),
    Table("ingest_counts", "concurrency", ("service",), Reference.ingest_counts, "job != 'resource_metrics'"),
    Table("container_latency", "container_latency", ("service",), Reference.container_latency),
    Table("container_own_time", "call_graph", ("service",), Reference.container_own_time),
    Table("data_sizes", "container_latency", ("service",), Reference.data_sizes, seldom=True),
    Table("spans_left_out", "concurrency", ("service",), Reference.spans_left_out, seldom=True),
    Table("critical_paths", "critical_paths", ("root_service",), Reference.critical_paths),
    Table("path_services", "critical_paths", ("root_service",), Reference.path_services),
    Table("trace_counts", "critical_paths", ("service",), Reference.trace_counts),
)
#: Those of the jobs that the local stack runs.
TABLES = tuple(table for table in ALL_TABLES if table.job in JOBS)


def check(stack: Stack, table: Table, prefix: str, reference: Reference) -> None:
    """Fails unless the table comes to hold exactly what the reference says, and stays so."""
    check_all(stack, prefix, reference, (table,))


def check_all(stack: Stack, prefix: str, reference: Reference, tables: Iterable[Table] | None = None) -> None:
    """The same for several tables, which are waited for at once; by default those of which the reference has rows."""
    expected = {table: table.expected(reference) for table in (TABLES if tables is None else tables)}
    probes = {
        table: Awaited(stack, table, prefix, rows) for table, rows in expected.items() if rows or tables is not None
    }
    assert probes
    differences = settled(probes)
    text = "\n".join(summary(table, differences[table]) for table in probes if differences[table])
    assert not text, text


@dataclass(frozen=True)
class Awaited:
    """A table that is to come to hold `expected`: a probe for `settled`."""

    stack: Stack
    table: Table
    prefix: str
    expected: Rows

    def __post_init__(self) -> None:
        known = self.expected or self.table.seldom
        assert known, f"the reference has no rows of {self.table.name}: nothing would be compared"

    def __call__(self) -> list[str]:
        return self.table.differences(self.stack, self.prefix, self.expected)


def summary(table: Table, differences: list[str]) -> str:
    """The first of the differences, for people."""
    return "\n".join([f"{len(differences)} rows of {table.name} differ:", *differences[:10]])


def records_since(stack: Stack, start: list[TopicPartition]) -> list[Record]:
    """The records from `start` to the topic's present end, with the broker's times."""
    records = []
    for kafka_message in read_since(stack, start):
        kind, received_ms = kafka_message.timestamp()
        assert kind == TIMESTAMP_LOG_APPEND_TIME
        records.append(
            Record(kafka_message.value(), received_ms, kafka_message.partition() or 0, kafka_message.offset() or 0)
        )
    return records


def sent_since(stack: Stack, start: list[TopicPartition], prefix: str) -> tuple[Reference, list[bytes]]:
    """What the topic has since `start` of services whose names begin with `prefix`; ids of its spans, each copy."""
    reference = Reference(
        record for record in records_since(stack, start) if prefix.encode() in (record.message or b"")
    )
    return reference, [span.span_id for record in reference.read for span in record.spans or []]


def _rows(table: dict[Any, Any]) -> Rows:
    return _plain({key: vars(row) for key, row in table.items()})


def _plain(rows: Rows, wide: Sequence[str] = ()) -> Rows:
    """Histograms with whole numbers as indexes, `wide` columns as numbers; without the rows that count nothing."""

    def plain_value(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {int(index): count for index, count in value.items()}
        return int(value) if name in wide else value

    plain = {key: {name: plain_value(name, value) for name, value in row.items()} for key, row in rows.items()}
    return {key: row for key, row in plain.items() if any(row.values())}


def _differences(actual: Rows, expected: Rows) -> Iterator[str]:
    for key in sorted(actual.keys() | expected.keys()):
        if key not in actual:
            yield f"{key} is missing: {expected[key]}"
        elif key not in expected:
            yield f"{key} is too many: {actual[key]}"
        elif columns := [name for name in expected[key] if not _equal(name, actual[key], expected[key])]:
            yield f"{key}: " + ", ".join(
                f"{name} is {actual[key][name]}, not {expected[key][name]}" for name in columns
            )


def _equal(name: str, actual: Row, expected: Row) -> bool:
    if name in ROUNDED:
        return bool(abs(actual[name] - expected[name]) <= expected["requests"])
    return bool(actual[name] == expected[name])
