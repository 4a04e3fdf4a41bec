"""The made spans are what the benchmark says of them: a figure on other spans would be another figure."""

from collections import Counter

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from bench.made_spans import SPANS_PER_ROUND, SPANS_PER_TRACE, TRACES_PER_ROUND, MadeSpans, Shape

START_NS = 1_700_000_000_000_000_000


def instances(message: bytes) -> set[str]:
    return {
        attribute.value.string_value
        for block in TracesData.FromString(message).resource_spans
        for attribute in block.resource.attributes
        if attribute.key == "service.instance.id"
    }


def spans(messages: list[bytes]) -> list[Span]:
    return [
        span
        for message in messages
        for block in TracesData.FromString(message).resource_spans
        for scope in block.scope_spans
        for span in scope.spans
    ]


@pytest.mark.parametrize("message_spans", [10, 100, 1_000])
def test_a_round_holds_whole_traces_in_messages_of_one_size(message_spans: int) -> None:
    messages = list(MadeSpans(Shape(message_spans=message_spans)).round(3, START_NS))
    result = spans(messages)
    assert {len(spans([message])) for message in messages} == {message_spans}
    assert len(result) == SPANS_PER_ROUND
    assert Counter(Counter(span.trace_id for span in result).values()) == {SPANS_PER_TRACE: TRACES_PER_ROUND}
    ids = {(span.trace_id, span.span_id) for span in result}
    assert all((span.trace_id, span.parent_span_id) in ids for span in result if span.parent_span_id)


def test_times_begin_with_the_round_and_children_lie_in_their_parents() -> None:
    made = MadeSpans(Shape())
    result = spans(list(made.round(0, START_NS)))
    assert min(span.start_time_unix_nano for span in result) == START_NS
    assert made.round_ns == 450_000_000  # 9,000 spans at 20,000 a second
    by_id = {(span.trace_id, span.span_id): span for span in result}
    for span in result:
        parent = by_id.get((span.trace_id, span.parent_span_id), span)
        assert parent.start_time_unix_nano <= span.start_time_unix_nano < span.end_time_unix_nano
        assert span.end_time_unix_nano <= parent.end_time_unix_nano


@pytest.mark.parametrize("count", [10, 1_000])
def test_as_many_instances_as_asked_for(count: int) -> None:
    made = MadeSpans(Shape(instances=count))
    met = {name for number in range(5) for message in made.round(number, START_NS) for name in instances(message)}
    assert len(met) == count


def test_rounds_are_of_other_traces_at_other_times() -> None:
    made = MadeSpans(Shape())
    first, second = spans(list(made.round(0, START_NS))), spans(list(made.round(1, START_NS + made.round_ns)))
    assert not {span.trace_id for span in first} & {span.trace_id for span in second}
    shifted = [span.end_time_unix_nano + made.round_ns for span in first]
    assert shifted == [span.end_time_unix_nano for span in second]


def test_instances_that_cannot_be_shared_evenly_are_refused() -> None:
    with pytest.raises(ValueError, match="7 instances"):
        MadeSpans(Shape(instances=7))
