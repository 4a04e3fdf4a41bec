"""Reads files of recorded traces into columns. A record that is not a trace is skipped, counted and named."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sluice.cli.traces.replay.formats import convert
from sluice.cli.traces.replay.records import Skipped, read_records
from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.replay.zipkin import is_zipkin
from sluice.cli.traces.report.facts.rules import Rules
from sluice.cli.traces.report.reading.columns import Columns, Spans
from sluice.cli.traces.report.reading.framed import is_framed, read_framed
from sluice.cli.traces.report.reading.jaeger import JaegerRecords, UnusualError
from sluice.cli.traces.report.reading.memory import Memory
from sluice.cli.traces.report.reading.otlp_json import OtlpRecords
from sluice.cli.traces.report.reading.protobuf import add_resource_spans
from sluice.cli.traces.report.reading.zipkin import ZipkinRecords

#: What direct readers raise for a record that the converters are to read.
_TAKEN = (1,)
UNUSUAL = (UnusualError, KeyError, TypeError, ValueError, AttributeError, OverflowError)


def read_spans(
    paths: Sequence[str],
    rules: Rules,
    totals: Totals,
    on_skip: Callable[[Skipped], None],
    on_read: Callable[[Totals], None],
) -> Spans:
    """The spans of all files. Counts files, traces, spans and skipped records in `totals`.

    Raises OSError when a file cannot be opened.
    """
    columns = Columns()
    records = _Records(Memory(columns, rules))
    with _without_cycles():
        for path in paths:
            totals.files += 1
            items = read_framed(path, records.message) if is_framed(path) else read_records(path, records.json)
            for item in items:
                if isinstance(item, Skipped):
                    totals.note_skipped(str(item))
                    on_skip(item)
                else:
                    totals.spans_read, totals.traces_read = len(columns), columns.traces
                    on_read(totals)
    records.flush()
    totals.spans_read, totals.traces_read = len(columns), columns.traces
    return columns.spans()


class _Records:
    """Adds records of any format; the number of spans of each part."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._jaeger, self._otlp, self._zipkin = JaegerRecords(memory), OtlpRecords(memory), ZipkinRecords(memory)

    def json(self, record: Any) -> Sequence[int]:
        try:
            if isinstance(record, dict):
                if "spans" not in record and is_zipkin(record):
                    self._zipkin.add(record)
                    return _TAKEN
                self._zipkin.flush()
                if "spans" in record:
                    return [self._jaeger.add(record)]
                if "resourceSpans" in record:
                    return [self._otlp.add(record)]
        except UNUSUAL:
            pass  # the converters read it, or name its fault
        self._zipkin.flush()
        resources = [resource for trace in convert(record) for resource in trace.resource_spans]
        return [add_resource_spans(self._memory, resources)]

    def flush(self) -> None:
        self._zipkin.flush()

    def message(self, message: Any) -> int:
        self._zipkin.flush()
        return add_resource_spans(self._memory, message.resource_spans)


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Parsed JSON has no cycles: a search for them would take a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
