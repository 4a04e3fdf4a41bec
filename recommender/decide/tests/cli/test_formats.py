"""Envelopes around OTLP, and Zipkin: each is read as what it holds, or refused by its own name."""

import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from sluice.cli.traces.replay.records import Skipped, read_traces
from sluice.cli.traces.replay.trace import Trace

TRACE = "0af7651916cd43dd8448eb211c80319c"
RESOURCE = {
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "till"}}]},
    "scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": "b7ad6b7169203331", "name": "pay", "kind": 2}]}],
}
ENVELOPES: dict[str, Any] = {
    "jaeger v3": {"result": {"resourceSpans": [RESOURCE]}},
    "tempo v2": {"trace": {"resourceSpans": [RESOURCE]}, "metrics": {"inspectedBytes": "1"}},
    "tempo v1": {"batches": [RESOURCE]},
    "tempo v1 within v2": {"trace": {"batches": [RESOURCE]}},
}


def zipkin(span_id: str, service: str, kind: str | None, **more: Any) -> dict[str, Any]:
    endpoint = {"serviceName": service, "ipv4": "10.1.0.3"}
    span = {"traceId": TRACE, "id": span_id, "name": "pay", "timestamp": 1_700_000_000_000_000, "duration": 250.0}
    return span | {"localEndpoint": endpoint} | ({"kind": kind} if kind else {}) | more


def read(path: Path, text: str) -> tuple[list[Trace], list[str]]:
    path.write_text(text)
    items = list(read_traces(str(path)))
    skipped = [item.reason for item in items if isinstance(item, Skipped)]
    return [item for item in items if not isinstance(item, Skipped)], skipped


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ENVELOPES)
def test_envelopes_of_jaeger_and_tempo(tmp_path: Path, name: str, indent: int | None) -> None:
    (trace,), skipped = read(tmp_path / "x.json", json.dumps(ENVELOPES[name], indent=indent))
    assert skipped == []
    assert trace.resource_spans[0].scope_spans[0].spans[0].span_id.hex() == "b7ad6b7169203331"


def test_answers_that_a_stream_has_line_by_line(tmp_path: Path) -> None:
    text = "".join(json.dumps(ENVELOPES["jaeger v3"]) + "\n" for _ in range(2))
    traces, skipped = read(tmp_path / "x.jsonl", text)
    assert (len(traces), skipped) == (2, [])


LISTS = {
    "list": lambda spans: json.dumps(spans),
    "indented": lambda spans: json.dumps(spans, indent=1),
    "list of traces": lambda spans: json.dumps([spans]),
    "lines": lambda spans: "".join(json.dumps(span) + "\n" for span in spans),
    "lists by line": lambda spans: (
        json.dumps(spans) + "\n" + json.dumps([zipkin("9", "other", None, traceId="5")]) + "\n"
    ),
}


@pytest.mark.parametrize("form", LISTS)
def test_spans_of_zipkin_that_follow_one_another_are_one_trace(tmp_path: Path, form: str) -> None:
    spans = [
        zipkin("1", "till", "SERVER"),
        zipkin(
            "2", "till", "CLIENT", parentId="1", remoteEndpoint={"serviceName": "bank", "ipv4": "10.1.0.9", "port": 81}
        ),
        zipkin("2", "bank", "SERVER", parentId="1", shared=True, tags={"error": "no funds", "n": "7"}),
    ]
    traces, skipped = read(tmp_path / "x.json", LISTS[form](spans))
    assert skipped == []
    assert [trace.spans for trace in traces] == [3, 1][: len(traces)]
    trace = traces[0]
    converted = [span for resource in trace.resource_spans for scope in resource.scope_spans for span in scope.spans]
    assert [(s.span_id.hex()[-1], s.parent_span_id.hex()[-1:], s.kind) for s in converted] == [
        ("1", "", 2),
        ("2", "1", 3),
        ("2", "1", 2),
    ]
    assert trace.resource_spans[0].resource.attributes[0].value.string_value == "till"
    assert trace.resource_spans[0].resource.attributes[1].key == "host.name"
    assert (converted[0].start_time_unix_nano, converted[0].end_time_unix_nano - converted[0].start_time_unix_nano) == (
        1_700_000_000_000_000_000,
        250_000,
    )
    peer = {attribute.key: attribute.value for attribute in converted[1].attributes}
    assert (peer["peer.service"].string_value, peer["network.peer.port"].int_value) == ("bank", 81)
    assert (converted[2].status.code, converted[2].status.message) == (Status.STATUS_CODE_ERROR, "no funds")


def test_a_span_of_zipkin_without_a_kind_or_duration(tmp_path: Path) -> None:
    span = zipkin("1", "till", None, annotations=[{"timestamp": 1_700_000_000_000_100, "value": "retry"}])
    del span["duration"]
    (trace,), _ = read(tmp_path / "x.json", json.dumps([span]))
    (found,) = trace.resource_spans[0].scope_spans[0].spans
    assert (found.kind, found.start_time_unix_nano) == (Span.SPAN_KIND_INTERNAL, found.end_time_unix_nano)
    assert (found.events[0].name, found.events[0].time_unix_nano) == ("retry", 1_700_000_000_000_100_000)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"traceEvents": []}, "looks like Chrome's trace events (`traceEvents`), which is not supported"),
        ({"Traces": [{"Segments": []}]}, "looks like AWS X-Ray"),
        ([zipkin("1", "till", None, binaryAnnotations=[])], "Zipkin v1"),
        ([zipkin("1", "till", "BOTH")], "kind is 'BOTH'"),
        ([zipkin("1", "", "SERVER")], "localEndpoint.serviceName is missing"),
        ([zipkin("1", "till", "SERVER", timestamp=None)], "timestamp is missing"),
        ([zipkin("x", "till", "SERVER")], "id 'x' is not 1 to 16 hexadecimal digits"),
        ([zipkin("1", "till", "SERVER", tags=[])], "tags is not an object"),
        ([zipkin("1", "till", "SERVER", annotations=[3])], "annotations[0] is not an object"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, record: Any, words: str) -> None:
    traces, skipped = read(tmp_path / "x.json", json.dumps(record))
    assert traces == []
    assert len(skipped) == 1
    assert words in skipped[0]
