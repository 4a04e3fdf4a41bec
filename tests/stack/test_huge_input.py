"""Input of a size that nobody meant: memory stays bounded, nothing stops, and what is not used is counted."""

import time

import pytest

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.reference.spans import cut
from sluice_kit.reference.truth import TABLES, Reference, check_all, records_since
from sluice_kit.traffic.masses import check_crowd, check_large_trace, check_trace_ids
from sluice_kit.traffic.messages import SentSpan, message, produce
from sluice_kit.traffic.wire import field

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
TEN_MB = 10_000_000


def server_span(service: str, number: int = 1, **more: object) -> SentSpan:
    now = time.time_ns()
    ids = {"trace_id": now.to_bytes(16, "big"), "span_id": number.to_bytes(8, "big"), "parent_id": b""}
    times = {"kind": "SERVER", "start_ns": now - SECOND, "end_ns": now}
    return SentSpan(service, **ids | times | more)  # type: ignore[arg-type]


def test_attributes_of_seven_megabytes_that_compress(stack: Stack) -> None:
    """The topic's limit counts compressed bytes: so they reach the job, in every place that it reads text from."""
    text = "é" * 3_500_000  # two of them fit a record that is read

    def spans() -> list[SentSpan]:
        return [
            server_span("huge-name", name=text),
            server_span("huge-instance", instance="huge" + text),
            server_span("huge-host", host="huge" + text),
            server_span("huge-" + text),
            server_span("huge-other", attributes=(("http.url", text), ("db.statement", text))),
            server_span("huge-peers", kind="CLIENT", attributes=(("peer.service", text),)),
            server_span("huge-peers", kind="CLIENT", attributes=(("server.address", text), ("db.name", text))),
        ]

    start = end_offsets(stack, "otlp_spans")
    # Each several times: what a consumer has fetched and not handed on yet must fit memory as well.
    for _ in range(5):
        produce(stack.address["SLUICE_KAFKA"], [(message([span]), n % 2) for n, span in enumerate(spans())])
    reference = Reference(records_since(stack, start))
    assert any(key[1] == cut("huge-" + text) for key in reference.windows())
    check_all(stack, "huge-", reference, TABLES)


def test_malformed_messages_of_ten_megabytes(stack: Stack) -> None:
    """A dead letter has to fit its topic: of a message that does not, it keeps the beginning and says so."""
    start = end_offsets(stack, "otlp_dead_letter")
    bad = field(1, field(2, b"\xff" * TEN_MB))
    produce(stack.address["SLUICE_KAFKA"], [(bad, n % 2) for n in range(6)])
    assert eventually(lambda: len(messages_since(stack, start)), 6) == 6


def test_more_spans_in_one_trace_than_are_kept(stack: Stack) -> None:
    check_large_trace(stack, "massive", 30_000)


def test_many_services_in_one_message(stack: Stack) -> None:
    check_crowd(stack, "crowd", 20_000)


def test_many_trace_ids_in_one_message(stack: Stack) -> None:
    check_trace_ids(stack, "ids", 140_000)
