"""`sluice report` counts as the streaming jobs do: its windows and paths equal those of the tests' reference, which the
stack's tables are compared with."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.cli.traces.replay.formats import convert
from sluice.cli.traces.report.analysis.pools import SIDE_NAMES, _series
from sluice.cli.traces.report.analysis.traces import Traces
from sluice.cli.traces.report.analysis.windows import windows_of
from sluice_kit.reference.spans import Record
from sluice_kit.reference.truth import Reference
from sluice_kit.traffic import hotel, random_traces
from sluice_kit.traffic.messages import message
from sluice_kit.traffic.path_traces import RECORDED

from .report_spans import BASE_NS, MS, traces_from

Table = dict[tuple[Any, ...], tuple[int, ...]]


def windows(traces: Traces) -> Table:
    """Rows of `windows`: busy_ns, completions, errors."""
    held, texts, spans = np.flatnonzero(traces.holds), traces.labels.names.texts, traces.spans
    keys, series = _series(traces, held)
    rows = windows_of(series, spans.start_ns[held], spans.end_ns[held], traces.labels.error[held])
    names = [
        (SIDE_NAMES[side], texts[service], texts[peer], texts[instance]) for service, side, peer, instance in keys.T
    ]
    counted = zip(rows.series, rows.bucket, rows.busy_ns, rows.completions, rows.errors, strict=True)
    return {(*names[of], int(bucket) * 100): tuple(map(int, counts)) for of, bucket, *counts in counted}


def services(traces: Traces) -> Table:
    """Rows of `path_services`: traces, self, wait, blame, end to end, blame times end to end."""
    paths, labels, spans, texts = traces.paths, traces.labels, traces.spans, traces.labels.names.texts
    table: dict[tuple[Any, ...], Counter[int]] = {}
    columns = (paths.part_path, paths.part_service, paths.own_ns, paths.wait_ns, paths.blame_ns)
    for path, service, own, wait, blame in zip(*(column.tolist() for column in columns), strict=True):
        root = paths.root[path]
        whole = int(spans.end_ns[root] - spans.start_ns[root])
        window = int(spans.end_ns[root]) // (10_000 * MS) * 10
        names = (texts[labels.service[root]], texts[labels.operation[root]], not paths.incomplete[path], texts[service])
        sums = table.setdefault((*names, window), Counter())
        sums.update(dict(enumerate((1, own, wait, blame, whole, blame * whole))))
    return {key: tuple(sums[at] for at in range(6)) for key, sums in table.items()}


def expected(messages: Iterable[bytes], received_ms: int) -> tuple[Table, Table]:
    reference = Reference([Record(data, received_ms, 0, offset) for offset, data in enumerate(messages)])
    rows = reference.windows().items()
    paths = ("traces", "self_sum", "wait_sum", "blame_sum", "e2e_sum", "blame_x_e2e")
    return (
        {key: (row["busy_ns"], row["completions"], row["errors"]) for key, row in rows},
        {key: tuple(row[name] for name in paths) for key, row in reference.path_services().items()},
    )


def check(messages: list[bytes], received_ms: int) -> int:
    """The number of windows that were compared."""
    traces = traces_from(messages)
    expected_windows, expected_paths = expected(messages, received_ms)
    assert {key: row for key, row in windows(traces).items() if any(row)} == expected_windows
    assert services(traces) == expected_paths
    return len(expected_windows)


@given(st.data())
@settings(max_examples=30)
def test_random_traces_are_counted_as_by_the_reference(data: st.DataObject) -> None:
    drawn = [data.draw(random_traces.traces(number)) for number in range(data.draw(st.integers(1, 4)))]
    spans = [span for trace in random_traces.placed(drawn, "t-", BASE_NS) for span in trace]
    # A message a span: what one message shows to be nested by ids that two spans share is the job's, not the trace's.
    # A message with the same bytes counts once in the pipeline.
    check(list(dict.fromkeys(message([span]) for span in spans)), BASE_NS // MS + 120_000)


def test_many_traces_with_every_fault() -> None:
    batch = random_traces.placed(random_traces.batch(150), "t-", BASE_NS)
    messages = dict.fromkeys(message([span]) for trace in batch for span in trace)
    assert check(list(messages), BASE_NS // MS + 120_000) > 5_000


def hotel_messages(traces: Iterable[dict[str, Any]]) -> tuple[list[bytes], int]:
    """A message a trace, and the time of its newest end in ms."""
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    converted = [trace for record in traces for trace in convert(record)]
    messages = [TracesData(resource_spans=trace.resource_spans).SerializeToString() for trace in converted]
    return messages, max(trace.end_ns for trace in converted) // MS


def test_a_made_hotel() -> None:
    messages, end_ms = hotel_messages(hotel.traces(200, seed=5))
    assert check(messages, end_ms + 1_000) > 400


@pytest.mark.parametrize("load", [25, 150])
def test_recorded_hotels(load: int) -> None:
    path: Path = RECORDED / f"dsb_hotel_reservation__hotel_load{load}.jsonl.gz"
    if not path.exists():
        pytest.skip("the recorded traces are not here")
    with gzip.open(path, "rt") as lines:
        messages, end_ms = hotel_messages(map(json.loads, lines))
    assert check(messages, end_ms + 1_000) > 1_000  # windows: 3,533 at the load of 150
