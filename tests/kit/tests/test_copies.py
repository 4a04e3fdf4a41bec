"""Which copy of a repeated message was read first, by what was counted as repeated."""

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.reference import copies, spans
from sluice_kit.reference.spans import Record


def message(service: str, count: int, mark: int) -> bytes:
    """`count` spans of a service; another mark makes other bytes."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    attribute = resource.resource.attributes.add(key="service.name")
    attribute.value.string_value = service
    scope = resource.scope_spans.add()
    for number in range(count):
        scope.spans.add(trace_id=bytes([mark]) * 16, span_id=bytes([number + 1]) * 8)
    return request.SerializeToString()


A, B = message("cart", 3, 1), message("cart", 2, 2)
#: A in windows 0 and 30; B in windows 20 and 30; positions (0, 0), (1, 7), (0, 1), (1, 8).
RECORDS = [Record(A, 5_000, 0, 0), Record(B, 25_000, 0, 1), Record(A, 31_000, 1, 7), Record(B, 32_000, 1, 8)]


@pytest.mark.parametrize(
    ("repeated", "first"),
    [
        ({("cart", 30): 5}, set()),
        ({("cart", 0): 3, ("cart", 30): 2}, {(1, 7)}),
        ({("cart", 20): 2, ("cart", 30): 3}, {(1, 8)}),
        ({("cart", 0): 3, ("cart", 20): 2}, {(1, 7), (1, 8)}),
        ({}, set()),  # nothing explains it: as the topic has them
    ],
)
def test_the_copy_that_was_counted_as_repeated_was_not_read_first(
    repeated: dict[tuple[str, int], int], first: set[tuple[int, int]]
) -> None:
    assert copies.read_first(RECORDS, repeated) == first


def test_the_copy_that_was_read_first_is_used() -> None:
    assert [record.repeated for record in spans.read(RECORDS)] == [False, False, True, True]
    assert [record.repeated for record in spans.read(RECORDS, {(1, 7)})] == [True, False, False, True]


#: Of the same window as their first copies: 400 ms later, and 1 s.
LATER = [*RECORDS[:2], Record(A, 5_400, 1, 7), Record(B, 26_000, 1, 8)]


@pytest.mark.parametrize(
    ("lags", "first"),
    [
        ({("cart", 0): 3 * 400}, {(1, 7)}),
        ({("cart", 0): 3 * 400, ("cart", 20): 2 * 1_000}, {(1, 7), (1, 8)}),
        ({("cart", 0): 0}, set()),
        ({("cart", 0): 100}, set()),  # nothing explains it
    ],
)
def test_of_copies_in_one_window_the_sums_of_delays_tell_which_was_read_first(
    lags: dict[tuple[str, int], int], first: set[tuple[int, int]]
) -> None:
    assert copies.with_lags(LATER, frozenset(), lags) == first


def test_a_copy_of_the_same_window_replaces_the_one_that_counts_named() -> None:
    third = Record(A, 5_600, 0, 9)
    assert copies.with_lags([*LATER, third], frozenset({(1, 7)}), {("cart", 0): 3 * 200}) == {(0, 9)}
