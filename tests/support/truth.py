"""The tables of a stack against the batch reference: which rows differ, told so that a person sees why."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import requests
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TopicPartition

from support.reference import counts, edges, spans, traces, windows
from support.reference.spans import Record
from support.stack import Stack
from support.topics import read_since

Row = dict[str, Any]
Rows = dict[tuple[Any, ...], Row]


class Reference:
    """What the tables must hold of these records, and of nothing else."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = sorted(records, key=lambda record: record.received_ms)

    @cached_property
    def spans(self) -> list[spans.Span]:
        return list(spans.accepted(self.records))

    @cached_property
    def traces(self) -> list[traces.Trace]:
        return traces.traces(self.spans)

    def windows(self) -> Rows:
        return _rows(windows.windows((span, windows.peer_of(span)) for span in self.spans))

    def call_edges(self) -> Rows:
        return _rows(edges.edges(self.traces))

    def ingest_counts(self) -> Rows:
        return _rows(counts.counts(self.records, self.traces))


@dataclass(frozen=True)
class Table:
    """A table of ClickHouse and its reference. `query` has the key columns first; {of} is a condition on services.

    `services` are the columns that name the services of a row: rows are a test's when one of them is.
    """

    name: str
    key: int
    services: tuple[str, ...]
    query: str
    expected: Callable[[Reference], Rows]

    def read(self, stack: Stack, prefix: str) -> Rows:
        """The rows of services whose names begin with `prefix`; rows whose sums are all zero do not count."""
        condition = " OR ".join(f"startsWith({column}, '{prefix}')" for column in self.services)
        answer = requests.post(
            stack.address["SLUICE_CLICKHOUSE"],
            params={"user": "sluice_reader", "database": "sluice", "output_format_json_quote_64bit_integers": "0"},
            data=self.query.format(of=f"({condition})") + " FORMAT JSONCompactEachRowWithNames",
            timeout=60,
        )
        assert answer.ok, answer.text
        lines = iter(answer.text.splitlines())
        names = json.loads(next(lines))[self.key :]
        rows = {}
        for line in lines:
            values = json.loads(line)
            rows[tuple(values[: self.key])] = dict(zip(names, values[self.key :], strict=True))
        return _plain(rows)

    def differences(self, stack: Stack, prefix: str, expected: Rows) -> list[str]:
        """One line a row that differs; empty when the table is exact."""
        return list(_differences(self.read(stack, prefix), expected))


TABLES = (
    Table(
        "windows",
        5,
        ("service",),
        """SELECT side, service, peer, instance, toUnixTimestamp64Milli(bucket),
                  busy_ns, completions, errors, latency FROM windows FINAL WHERE {of}""",
        Reference.windows,
    ),
    Table(
        "call_edges",
        3,
        ("caller", "callee"),
        "SELECT caller, callee, toUnixTimestamp(window), calls, errors, latency FROM call_edges FINAL WHERE {of}",
        Reference.call_edges,
    ),
    Table(
        "ingest_counts",
        4,
        ("service",),
        """SELECT job, outcome, service, toUnixTimestamp(received), messages, spans, emit_lag_ms
           FROM ingest_counts FINAL WHERE {of} AND job IN ('concurrency', 'call_graph')""",
        Reference.ingest_counts,
    ),
)


def settled(probe: Callable[[], list[str]], within_s: float = 60.0, steady_s: float = 2.0) -> list[str]:
    """Asks until there are no differences and still are none after a while; the last answer."""
    end = time.monotonic() + within_s
    while (differences := probe()) and time.monotonic() < end:
        time.sleep(1.0)
    time.sleep(steady_s)
    return differences or probe()


def check(stack: Stack, table: Table, prefix: str, reference: Reference, within_s: float = 60.0) -> None:
    """Fails unless the table comes to hold exactly what the reference says, and stays so."""
    expected = table.expected(reference)
    assert expected, "the reference has no rows: nothing would be compared"
    found = settled(lambda: table.differences(stack, prefix, expected), within_s)
    text = "\n".join(found[:10])
    assert not found, f"{len(found)} of {len(expected)} rows of {table.name} differ:\n{text}"


def records_since(stack: Stack, start: list[TopicPartition]) -> list[Record]:
    """The records from `start` to the topic's present end, with the broker's times."""
    records = []
    for each in read_since(stack, start):
        kind, received_ms = each.timestamp()
        assert kind == TIMESTAMP_LOG_APPEND_TIME
        records.append(Record(each.value(), received_ms))
    return records


def _rows(table: dict[Any, Any]) -> Rows:
    return _plain({key: vars(row) for key, row in table.items()})


def _plain(rows: Rows) -> Rows:
    """Histograms with whole numbers as indexes; without the rows that count nothing."""
    plain = {
        key: {
            name: {int(i): n for i, n in value.items()} if isinstance(value, dict) else value
            for name, value in row.items()
        }
        for key, row in rows.items()
    }
    return {key: row for key, row in plain.items() if any(row.values())}


def _differences(actual: Rows, expected: Rows) -> Iterator[str]:
    for key in sorted(actual.keys() | expected.keys()):
        if key not in actual:
            yield f"{key} is missing: {expected[key]}"
        elif key not in expected:
            yield f"{key} is too many: {actual[key]}"
        elif actual[key] != expected[key]:
            columns = [name for name, value in expected[key].items() if actual[key][name] != value]
            yield f"{key}: " + ", ".join(
                f"{name} is {actual[key][name]}, not {expected[key][name]}" for name in columns
            )
