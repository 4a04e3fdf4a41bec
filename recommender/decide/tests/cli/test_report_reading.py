"""Reading of traces for `sluice report`: the readers of usual records read as `replay` converts; bad input is named."""

import copy
import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.cli.traces.replay.formats import convert
from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.replay.trace import BadRecordError
from sluice.cli.traces.report.facts.rules import read_rules
from sluice.cli.traces.report.reading.columns import Columns, Spans
from sluice.cli.traces.report.reading.files import UNUSUAL, read_spans
from sluice.cli.traces.report.reading.jaeger import JaegerRecords
from sluice.cli.traces.report.reading.memory import Memory
from sluice.cli.traces.report.reading.otlp_json import OtlpRecords
from sluice.cli.traces.report.reading.protobuf import add_resource_spans
from sluice.cli.traces.report.reading.zipkin import ZipkinRecords
from sluice_kit.traffic.messages import message as protobuf_message

from . import test_formats, test_otlp_json
from .jaeger_traces import jaeger_span, jaeger_trace, write_lines
from .report_spans import RULES, sent

ATTRIBUTES: list[tuple[str, str, Any]] = [
    ("peer.service", "string", "cart"),
    ("server.address", "string", "10.0.0.6"),
    ("server.port", "int64", 6379),
    ("server.port", "int64", "5432"),
    ("net.peer.port", "string", "80"),
    ("db.name", "string", "orders"),
    ("url.full", "string", "http://pay:8081/v1?x=1"),
    ("http.status_code", "int64", 503),
    ("http.status_code", "string", "404"),
    ("http.status_code", "float64", 500),
    ("rpc.grpc.status_code", "int64", 5),
    ("error", "bool", True),
    ("error", "string", "true"),
    ("http.target", "string", "/healthz?verbose"),
    ("user_agent.original", "string", "sluice-actuator/0.1"),
    ("sampler.type", "string", "probabilistic"),
    ("sampler.param", "float64", 0.1),
    ("unread", "string", "x"),
]
JAEGER_ONLY: list[tuple[str, str | None, Any]] = [
    ("span.kind", "string", "client"),
    ("span.kind", "string", "SERVER"),
    ("span.kind", "string", "odd"),
    ("otel.status_code", "string", "ERROR"),
    ("server.port", "int64", "a port"),
    ("http.status_code", None, 429),
    ("peer.service", "string", ["a", "list"]),
]
REFERENCES = [
    [],
    [{"refType": "CHILD_OF", "spanID": "1"}],
    [{"refType": "FOLLOWS_FROM", "spanID": "1"}],
    [{"refType": "CHILD_OF", "traceID": "7", "spanID": "1"}, {"refType": "CHILD_OF", "traceID": "7", "spanID": "2"}],
    [{"refType": "CHILD_OF", "traceID": "8", "spanID": "1"}],
    [{"refType": "FOLLOWS_FROM", "traceID": "0007", "spanID": "1"}],
    [{"refType": "SIBLING", "spanID": "1"}],
]
VALUES = {"string": "stringValue", "int64": "intValue", "float64": "doubleValue", "bool": "boolValue"}


def columns_of(add: Callable[[Memory], object]) -> list[tuple[Any, ...]]:
    columns = Columns()
    add(Memory(columns, read_rules(RULES)))
    return rows(columns.spans())


def rows(spans: Spans) -> list[tuple[Any, ...]]:
    columns = (spans.trace, spans.span_id, spans.parent_id, spans.start_ns, spans.end_ns, spans.linked, spans.facts)
    return sorted(
        (spans.trace_ids[trace], *numbers, spans.facts_of[facts])
        for trace, *numbers, facts in zip(*(column.tolist() for column in columns), strict=True)
    )


def converted(record: Any) -> list[tuple[Any, ...]]:
    resources = [resource for trace in convert(copy.deepcopy(record)) for resource in trace.resource_spans]
    return columns_of(lambda memory: add_resource_spans(memory, resources))


def agree(record: Any, add: Callable[[Memory], object]) -> None:
    """The direct reader reads as the converter, or leaves the record to it."""
    try:
        direct = columns_of(add)
    except UNUSUAL:
        return
    assert direct == converted(record)


tags = st.lists(st.sampled_from(ATTRIBUTES + JAEGER_ONLY), max_size=6)


@given(tags, st.sampled_from(REFERENCES), st.integers(-5, 5_000), st.booleans())
def test_jaeger_is_read_as_converted(
    drawn: list[tuple[str, str | None, Any]], references: list[Any], duration_us: int, named: bool
) -> None:
    listed = [{"key": key, "value": value} | ({"type": kind} if kind else {}) for key, kind, value in drawn]
    spans = (jaeger_span(1, 1_000, 9_000), jaeger_span(2, 2_000, duration_us, tags=listed, references=references))
    record = jaeger_trace(7, *spans)
    if named:
        record["processes"]["p1"]["tags"] = [
            {"key": "hostname", "type": "string", "value": "h"},
            {"key": "k8s.pod.name", "type": "string", "value": "pod-1"},
            {"key": "container.id", "type": "int64", "value": 5},
        ]
    agree(record, lambda memory: JaegerRecords(memory).add(copy.deepcopy(record)))


@given(
    st.lists(st.sampled_from(ATTRIBUTES), max_size=6),
    st.sampled_from([0, 2, 3, 5, "SPAN_KIND_CLIENT", "SPAN_KIND_SERVER", 17]),
    st.sampled_from([{}, {"code": 2}, {"code": "STATUS_CODE_ERROR"}, {"code": 1}]),
    st.sampled_from(
        [{}, {"parentSpanId": "00000000000000a1"}, {"parentSpanId": ""}, {"traceState": "a=b,ot=rv:1;th:c"}]
    ),
)
def test_otlp_is_read_as_converted(drawn: list[tuple[str, str, Any]], kind: Any, status: Any, more: Any) -> None:
    attributes = [{"key": key, "value": {VALUES[kind_of]: value}} for key, kind_of, value in drawn]
    times = {"startTimeUnixNano": "1544712660000000123", "endTimeUnixNano": 1544712661000000000}
    span = test_otlp_json.span(
        test_otlp_json.TRACE_A, "00000000000000A2", attributes=attributes, status=status, **times, **more
    )
    record = test_otlp_json.message(span | {"kind": kind})
    try:
        converted(record)
    except BadRecordError:
        return  # a text where OTLP wants a number, for example
    agree(record, lambda memory: OtlpRecords(memory).add(copy.deepcopy(record)))


ENDPOINTS: list[Any] = [
    {},
    {"serviceName": "cart"},
    {"serviceName": "cart", "ipv4": "10.0.0.6", "port": 6379},
    {"ipv6": "::1", "port": 0},
    None,
    [],
]


def zipkin_columns(memory: Memory, *records: dict[str, Any]) -> None:
    reader = ZipkinRecords(memory)
    for record in records:
        reader.add(copy.deepcopy(record))
    reader.flush()


@given(
    st.lists(st.sampled_from(ATTRIBUTES), max_size=6),
    st.sampled_from(["SERVER", "CLIENT", "PRODUCER", "CONSUMER", "ODD", None]),
    st.sampled_from(ENDPOINTS),
    st.sampled_from(
        [
            {},
            {"parentId": "a1"},
            {"annotations": [{"timestamp": 1_700_000_000_000_001, "value": "ws"}]},
            {"annotations": [{"timestamp": -1}]},
            {"duration": None},
            {"tags": []},
            {"tags": {"error": "false"}},
            {"timestamp": 2**60},
            {"traceId": "xyz"},
            {"name": 5},
        ]
    ),
)
def test_zipkin_is_read_as_converted(
    drawn: list[tuple[str, str, Any]], kind: str | None, remote: Any, more: dict[str, Any]
) -> None:
    tags = {key: str(value) for key, _, value in drawn}
    record = test_formats.zipkin("a2", "shop", kind, duration=250, remoteEndpoint=remote, tags=tags) | more
    try:
        converted(record)
    except BadRecordError:
        with pytest.raises(UNUSUAL):
            columns_of(lambda memory: zipkin_columns(memory, record))
        return
    agree(record, lambda memory: zipkin_columns(memory, record))


def test_the_usual_records_need_no_converter() -> None:
    span = test_formats.zipkin("a1", "shop", "CLIENT", duration=250, remoteEndpoint=ENDPOINTS[2], tags={"error": "x"})
    assert columns_of(lambda memory: zipkin_columns(memory, span)) == converted(span)
    record = jaeger_trace(7, jaeger_span(1, 1_000, 9_000), jaeger_span(2, 2_000, 50, parent=1))
    assert columns_of(lambda memory: JaegerRecords(memory).add(record)) == converted(record)
    times = {"startTimeUnixNano": "1544712660000000123", "endTimeUnixNano": "1544712661000000000"}
    otlp = test_otlp_json.message(test_otlp_json.span(test_otlp_json.TRACE_A, "00000000000000a1", **times))
    assert columns_of(lambda memory: OtlpRecords(memory).add(otlp)) == converted(otlp)


def read(*paths: Path) -> tuple[Spans, Totals]:
    totals = Totals()
    spans = read_spans([str(path) for path in paths], read_rules(RULES), totals, lambda _: None, lambda _: None)
    return spans, totals


def test_formats_are_told_apart(tmp_path: Path) -> None:
    jaeger = write_lines(tmp_path / "j.gz", jaeger_trace(7), packed=True)
    zipkin = tmp_path / "z.json"
    zipkin.write_text(json.dumps([[test_formats.zipkin("00000000000000a1", "shop", "SERVER")]]))
    tempo = tmp_path / "t.json"
    tempo.write_text(json.dumps(test_formats.ENVELOPES["tempo v2"]))
    spans, totals = read(jaeger, zipkin, tempo)
    assert (len(spans), totals.records_skipped, totals.files) == (3, 0, 3)
    assert {facts.service for facts in spans.facts_of} == {"shop", "till"}


@pytest.mark.parametrize("packed", [False, True])
def test_protobuf_with_lengths(tmp_path: Path, packed: bool) -> None:
    data = protobuf_message([sent(1, "SERVER", 0, 5), sent(2, "CLIENT", 1, 2, parent=1)])
    text = (len(data).to_bytes(4) + data) * 2
    path = tmp_path / "traces.bin"
    path.write_bytes(gzip.compress(text) if packed else text)
    spans, totals = read(path)
    assert (len(spans), totals.records_skipped) == (4, 0)
    path.write_bytes(text[:-3])
    spans, totals = read(path)
    assert (len(spans), totals.skipped) == (2, [f"{path}:2: ends in the middle of a message"])
    bad = b"\x0a\xff\xff\xff"
    path.write_bytes(len(data).to_bytes(4) + data + len(bad).to_bytes(4) + bad + len(data).to_bytes(4) + data)
    spans, totals = read(path)
    assert (len(spans), totals.skipped) == (4, [f"{path}:2: is not a protobuf message of OTLP (TracesData)"])


def test_a_bad_trace_among_good_ones_is_the_only_loss(tmp_path: Path) -> None:
    bad = jaeger_trace(2, jaeger_span(1, 0, 5), jaeger_span(2, 0, 5) | {"spanID": "no hex"})
    path = write_lines(tmp_path / "t.jsonl", jaeger_trace(1), bad, "{", jaeger_trace(3))
    spans, totals = read(path)
    assert len(spans) == 2
    assert [text.partition(" ")[0] for text in totals.skipped] == [f"{path}:2:", f"{path}:3:"]
    assert "spans[1].spanID" in totals.skipped[0]


def test_a_gzip_stream_that_is_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.gz", *map(jaeger_trace, range(1, 4_000)), packed=True)
    path.write_bytes(path.read_bytes()[:-2_000])
    spans, totals = read(path)
    assert 0 < len(spans) < 3_999
    assert totals.records_skipped >= 1
    assert "cut off" in totals.skipped[-1]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(json.dumps(jaeger_trace(1)) + "\n"))
    writer.start()
    spans, totals = read(pipe)
    writer.join()
    assert (len(spans), totals.records_skipped) == (1, 0)
