"""OTLP/JSON -> OTLP."""

from typing import Any

import pytest

from sluice.cli.traces.replay.otlp_json import convert_otlp_json
from sluice.cli.traces.replay.trace import BadRecordError

TRACE_A = "5b8efff798038103d269b633813fc60c"
TRACE_B = "000102030405060708090a0b0c0d0e0f"


def span(trace_id: str, span_id: str, **more: Any) -> dict[str, Any]:
    return {"traceId": trace_id, "spanId": span_id, "name": "n", "kind": 2} | more


def message(*spans: dict[str, Any], service: str = "shop") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "lib"}, "spans": list(spans)}]}]}


def test_hexadecimal_ids_and_integers_as_strings_or_numbers() -> None:
    record = message(
        span(
            TRACE_A,
            "EEE19B7EC3C1B174",
            parentSpanId="eee19b7ec3c1b173",
            startTimeUnixNano="1544712660000000123",
            endTimeUnixNano=1544712661000000000,
            attributes=[{"key": "n", "value": {"intValue": "9007199254740993"}}],
            links=[{"traceId": TRACE_B, "spanId": "00000000000000ff"}],
            unknownKey={"a": 1},
        )
    )
    (trace,) = convert_otlp_json(record)
    (found,) = trace.resource_spans[0].scope_spans[0].spans
    assert found.trace_id.hex() == TRACE_A
    assert found.span_id.hex() == "eee19b7ec3c1b174"
    assert found.parent_span_id.hex() == "eee19b7ec3c1b173"
    assert found.start_time_unix_nano == 1544712660000000123
    assert found.attributes[0].value.int_value == 9007199254740993
    assert found.links[0].span_id.hex() == "00000000000000ff"
    assert (trace.spans, trace.start_ns, trace.end_ns) == (1, 1544712660000000123, 1544712661000000000)


def test_an_empty_parent_is_a_root() -> None:
    (trace,) = convert_otlp_json(message(span(TRACE_A, "0000000000000001", parentSpanId="")))
    assert trace.resource_spans[0].scope_spans[0].spans[0].parent_span_id == b""


def test_a_message_of_several_traces_is_taken_apart_by_trace_id() -> None:
    record = message(
        span(TRACE_A, "00000000000000a1"), span(TRACE_B, "00000000000000b1"), span(TRACE_A, "00000000000000a2")
    )
    record["resourceSpans"] += message(span(TRACE_B, "00000000000000b2"), service="cart")["resourceSpans"]
    parts = convert_otlp_json(record)
    spans = [
        [
            (
                resource.resource.attributes[0].value.string_value,
                resource.scope_spans[0].scope.name,
                s.span_id.hex()[-2:],
            )
            for resource in part.resource_spans
            for s in resource.scope_spans[0].spans
        ]
        for part in parts
    ]
    assert spans == [
        [("shop", "lib", "a1"), ("shop", "lib", "a2")],
        [("shop", "lib", "b1"), ("cart", "lib", "b2")],
    ]
    assert [part.spans for part in parts] == [2, 2]


@pytest.mark.parametrize(
    ("record", "message_part"),
    [
        (message(span("5b8e", "0000000000000001")), "traceId '5b8e' is neither 32 hexadecimal digits nor 16 bytes"),
        (message(span(TRACE_A, "W47/95gDgQ==")), "spans[0].spanId 'W47/95gDgQ==' is neither 16 hexadecimal digits"),
        (message(span("0" * 32, "0000000000000001")), "traceId is all zeros"),
        (message({"name": "n"}), "traceId is missing"),
        (message(span(TRACE_A, "0000000000000001", parentSpanId="1")), "parentSpanId '1' is neither 16"),
        (message(span(TRACE_A, "0000000000000001", startTimeUnixNano="soon")), "is not OTLP JSON"),
        (message(), "has no spans"),
        ({"resourceSpans": []}, "has no spans"),
        ({"resourceSpans": {"a": 1}}, "resourceSpans is not an array of objects"),
        ({"resourceSpans": [3]}, "resourceSpans is not an array of objects"),
    ],
)
def test_what_is_wrong_is_named(record: dict[str, Any], message_part: str) -> None:
    with pytest.raises(BadRecordError) as error:
        convert_otlp_json(record)
    assert message_part in str(error.value)


@pytest.mark.parametrize(
    ("trace_id", "span_id"),
    [
        ("W47/95gDgQPSabYzgT/GDA==", "7uGbfsPBsXM="),
        ("W47_95gDgQPSabYzgT_GDA", "7uGbfsPBsXM"),
        (TRACE_A, "eee19b7ec3c1b173"),
    ],
)
def test_ids_in_base64_are_told_by_their_length(trace_id: str, span_id: str) -> None:
    record = message(
        span(trace_id, span_id, parentSpanId="AAAAAAAAAAE=", links=[{"traceId": trace_id, "spanId": span_id}])
    )
    (trace,) = convert_otlp_json(record)
    (found,) = trace.resource_spans[0].scope_spans[0].spans
    assert (found.trace_id.hex(), found.span_id.hex()) == (TRACE_A, "eee19b7ec3c1b173")
    assert found.parent_span_id.hex() == "0000000000000001"
    assert found.links[0].span_id == found.span_id


def test_spans_of_old_instrumentation_libraries_are_read_beside_new_ones() -> None:
    record = message(span(TRACE_A, "00000000000000a1"))
    old = {"instrumentationLibrary": {"name": "old"}, "spans": [span(TRACE_A, "00000000000000a2")]}
    record["resourceSpans"][0]["instrumentationLibrarySpans"] = [old]
    (trace,) = convert_otlp_json(record)
    assert [(s.scope.name, len(s.spans)) for s in trace.resource_spans[0].scope_spans] == [("lib", 1), ("old", 1)]
