"""Jaeger -> OTLP, with values worked out by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from sluice.cli.traces.replay.jaeger import convert_jaeger
from sluice.cli.traces.replay.trace import BadRecordError

from .jaeger_traces import jaeger_span, jaeger_trace


def only_span(**more: Any) -> Span:
    trace = convert_jaeger(jaeger_trace(0xABC, jaeger_span(0x1F, 1_000_000, 250, **more)))
    return trace.resource_spans[0].scope_spans[0].spans[0]


def attributes(owner: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in owner.attributes}


def tag(key: str, kind: str, value: Any) -> dict[str, Any]:
    return {"key": key, "type": kind, "value": value}


def test_ids_are_padded_on_the_left_to_16_and_8_bytes() -> None:
    span = only_span()
    assert span.trace_id.hex() == "00000000000000000000000000000abc"
    assert span.span_id.hex() == "000000000000001f"
    assert span.parent_span_id == b""


def test_microseconds_become_nanoseconds() -> None:
    span = only_span()
    assert span.name == "op31"
    assert span.start_time_unix_nano == 1_000_000_000
    assert span.end_time_unix_nano == 1_000_250_000


def test_a_negative_duration_is_sent_as_it_is() -> None:
    trace = convert_jaeger(jaeger_trace(1, jaeger_span(1, 5_000, -2_000)))
    span = trace.resource_spans[0].scope_spans[0].spans[0]
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (5_000_000, 3_000_000)
    # The trace is not over before its last span started.
    assert (trace.start_ns, trace.end_ns) == (5_000_000, 5_000_000)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("server", Span.SPAN_KIND_SERVER),
        ("client", Span.SPAN_KIND_CLIENT),
        ("producer", Span.SPAN_KIND_PRODUCER),
        ("consumer", Span.SPAN_KIND_CONSUMER),
        ("internal", Span.SPAN_KIND_INTERNAL),
        ("SERVER", Span.SPAN_KIND_SERVER),
    ],
)
def test_the_tag_span_kind_becomes_the_kind_and_no_attribute(value: str, kind: int) -> None:
    span = only_span(tags=[tag("span.kind", "string", value)])
    assert span.kind == kind
    assert attributes(span) == {}


def test_without_a_known_span_kind_the_span_is_internal() -> None:
    assert only_span().kind == Span.SPAN_KIND_INTERNAL
    odd = only_span(tags=[tag("span.kind", "string", "odd")])
    assert odd.kind == Span.SPAN_KIND_INTERNAL
    assert attributes(odd) == {"span.kind": "odd"}


@pytest.mark.parametrize(
    "tags",
    [
        [tag("error", "bool", True)],
        [tag("error", "string", "true")],
        [tag("otel.status_code", "string", "ERROR")],
        [tag("otel.status_code", "string", "OK"), tag("error", "bool", True)],
        [tag("error", "bool", True), tag("otel.status_code", "string", "OK")],
    ],
)
def test_errors_set_the_status(tags: list[dict[str, Any]]) -> None:
    assert only_span(tags=tags).status.code == Status.STATUS_CODE_ERROR


def test_status_without_an_error() -> None:
    assert only_span(tags=[tag("error", "bool", False)]).status.code == Status.STATUS_CODE_UNSET
    assert only_span(tags=[tag("otel.status_code", "string", "OK")]).status.code == Status.STATUS_CODE_OK


def test_the_status_description_becomes_the_message() -> None:
    tags = [tag("otel.status_code", "string", "ERROR"), tag("otel.status_description", "string", "pool empty")]
    span = only_span(tags=tags)
    assert span.status.message == "pool empty"
    assert attributes(span) == {}


def test_tags_keep_their_types() -> None:
    span = only_span(
        tags=[
            tag("s", "string", "x"),
            tag("b", "bool", False),
            tag("i", "int64", 2**53 + 1),
            tag("j", "int64", "9007199254740993"),
            tag("f", "float64", 3),
            tag("raw", "binary", "AAEC"),
        ]
    )
    values = attributes(span)
    assert values == {"s": "x", "b": False, "i": 2**53 + 1, "j": 2**53 + 1, "f": 3.0, "raw": b"\0\1\2"}
    assert [type(values[key]) for key in values] == [str, bool, int, int, float, bytes]


def test_a_value_that_does_not_fit_its_type_is_kept_as_what_it_is() -> None:
    span = only_span(tags=[tag("i", "int64", "many"), tag("raw", "binary", "?"), tag("big", "int64", 2**63)])
    assert attributes(span) == {"i": "many", "raw": "?", "big": str(2**63)}


def test_references() -> None:
    span = only_span(
        references=[
            {"refType": "CHILD_OF", "traceID": "abc", "spanID": "2"},
            {"refType": "FOLLOWS_FROM", "traceID": "abc", "spanID": "3"},
            {"refType": "CHILD_OF", "traceID": "def", "spanID": "4"},
            {"refType": "CHILD_OF", "traceID": "abc", "spanID": "5"},
        ]
    )
    assert span.parent_span_id.hex() == "0000000000000002"
    links = [(link.trace_id.hex()[-3:], link.span_id.hex()[-1], attributes(link)) for link in span.links]
    assert links == [
        ("abc", "3", {"opentracing.ref_type": "follows_from"}),
        ("def", "4", {"opentracing.ref_type": "child_of"}),
        ("abc", "5", {"opentracing.ref_type": "child_of"}),
    ]


def test_a_parent_in_another_trace_only_is_a_link() -> None:
    span = only_span(references=[{"refType": "CHILD_OF", "traceID": "def", "spanID": "4"}])
    assert span.parent_span_id == b""
    assert len(span.links) == 1


def test_the_old_field_for_the_parent() -> None:
    assert only_span(references=[], parentSpanID="7").parent_span_id.hex() == "0000000000000007"
    assert only_span(references=[], parentSpanID="0").parent_span_id == b""


def test_logs_become_events() -> None:
    fields = [tag("event", "string", "retry"), tag("attempt", "int64", 2)]
    span = only_span(logs=[{"timestamp": 1_000_100, "fields": fields}])
    assert [(e.name, e.time_unix_nano, attributes(e)) for e in span.events] == [
        ("retry", 1_000_100_000, {"attempt": 2})
    ]


def test_spans_are_grouped_by_process_and_hostname_becomes_host_name() -> None:
    trace = jaeger_trace(1, jaeger_span(1, 0, 1), jaeger_span(2, 0, 1, processID="p2"), jaeger_span(3, 0, 1))
    trace["processes"]["p2"] = {
        "serviceName": "cart",
        "tags": [tag("hostname", "string", "h"), tag("ip", "string", "i")],
    }
    resources = convert_jaeger(trace).resource_spans
    assert [attributes(r.resource) for r in resources] == [
        {"service.name": "shop"},
        {"service.name": "cart", "host.name": "h", "ip": "i"},
    ]
    assert [[s.name for s in r.scope_spans[0].spans] for r in resources] == [["op1", "op3"], ["op2"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spanID": None}, "spans[0].spanID is missing"),
        ({"spanID": "xyz"}, "spans[0].spanID 'xyz' is not 1 to 16 hexadecimal digits"),
        ({"spanID": "1" * 17}, "is not 1 to 16 hexadecimal digits"),
        ({"spanID": "00"}, "spans[0].spanID is all zeros"),
        ({"traceID": "1" * 33}, "is not 1 to 32 hexadecimal digits"),
        ({"startTime": None}, "spans[0].startTime is missing"),
        ({"startTime": "soon"}, "spans[0].startTime is 'soon', not a whole number of microseconds"),
        ({"startTime": True}, "not a whole number"),
        ({"startTime": -1}, "is outside 1970 .. 2554"),
        ({"startTime": 2**64}, "is outside 1970 .. 2554"),
        ({"duration": None}, "spans[0].duration is missing"),
        ({"duration": -2_000_000}, "is outside 1970 .. 2554"),
        ({"operationName": None}, "spans[0].operationName is missing"),
        ({"processID": "p9"}, "spans[0].processID: the trace has no processes['p9']"),
        ({"references": [{"refType": "NEAR", "spanID": "1"}]}, "references[0].refType is 'NEAR'"),
        ({"references": [{"refType": "CHILD_OF"}]}, "references[0].spanID is missing"),
        ({"tags": [{"value": 1}]}, "spans[0].tags[0].key is missing"),
        ({"tags": {"a": 1}}, "spans[0].tags"),
        ({"tags": 5}, "spans[0].tags is a number, not an array"),
        ({"processID": ["p1"]}, "spans[0].processID is an array, not a string"),
        ({"logs": 5}, "spans[0].logs is a number, not an array"),
        ({"logs": [{"timestamp": 1, "fields": True}]}, "spans[0].logs[0].fields is a boolean, not an array"),
        ({"logs": [3]}, "spans[0].logs[0] is a number, not an object"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRecordError) as error:
        only_span(**change)
    assert message in str(error.value)


def test_a_process_without_a_service_name_is_refused() -> None:
    trace = jaeger_trace(1)
    del trace["processes"]["p1"]["serviceName"]
    with pytest.raises(BadRecordError, match=r"processes\['p1'\]\.serviceName is missing"):
        convert_jaeger(trace)


@pytest.mark.parametrize("spans", [[], None, 3, "x"])
def test_a_trace_without_spans_is_refused(spans: Any) -> None:
    with pytest.raises(BadRecordError, match="has no spans"):
        convert_jaeger({"traceID": "1", "spans": spans, "processes": {}})


ids = st.integers(1, 2**64 - 1)
times = st.integers(0, 2**53)
values = st.one_of(
    st.tuples(st.just("string"), st.text()),
    st.tuples(st.just("bool"), st.booleans()),
    st.tuples(st.just("int64"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("float64"), st.floats(allow_nan=False)),
)


@st.composite
def traces(draw: st.DrawFn) -> dict[str, Any]:
    span_ids = draw(st.lists(ids, min_size=1, max_size=12, unique=True))
    processes = draw(st.integers(1, 3))
    spans = []
    for number, span_id in enumerate(span_ids):
        parent = draw(st.sampled_from([None, *span_ids[:number]]))
        start = draw(times)
        span = jaeger_span(span_id, start, draw(st.integers(-start, 2**40)), parent)
        span["tags"] = [tag(f"k{i}", kind, value) for i, (kind, value) in enumerate(draw(st.lists(values, max_size=3)))]
        span["processID"] = f"p{draw(st.integers(1, processes))}"
        spans.append(span)
    trace = jaeger_trace(draw(st.integers(1, 2**128 - 1)), *spans)
    trace["processes"] = {f"p{i}": {"serviceName": f"s{i}"} for i in range(1, processes + 1)}
    return trace


@given(traces())
def test_any_trace_keeps_its_spans_with_ids_parents_times_and_tags(trace: dict[str, Any]) -> None:
    out = convert_jaeger(trace)
    attributes = {
        int.from_bytes(span.span_id): (
            int.from_bytes(span.trace_id),
            int.from_bytes(span.parent_span_id),
            span.start_time_unix_nano // 1000,
            (span.end_time_unix_nano - span.start_time_unix_nano) // 1000,
            [a.key for a in span.attributes],
            resource.resource.attributes[0].value.string_value,
        )
        for resource in out.resource_spans
        for span in resource.scope_spans[0].spans
    }
    expected = {
        int(span["spanID"], 16): (
            int(span["traceID"], 16),
            int(span["references"][0]["spanID"], 16) if span["references"] else 0,
            span["startTime"],
            span["duration"],
            [t["key"] for t in span["tags"]],
            span["processID"].replace("p", "s"),
        )
        for span in trace["spans"]
    }
    assert attributes == expected
    assert out.spans == len(trace["spans"])
