"""Spans that no tracer should send, in messages that are well formed: each cause has its counter, the rest counts."""

import time
from dataclasses import replace

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.spans import judge
from sluice_kit.reference.truth import Reference, check_all, records_since
from sluice_kit.traffic.messages import SentSpan, message, produce

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
DAY = 86_400 * SECOND


def spans(service: str, count: int) -> list[SentSpan]:
    """A parent and its children, one after the other; all of them good."""
    now = time.time_ns()
    made = [
        SentSpan(service, now.to_bytes(16, "big"), bytes([n + 1] * 8), bytes([1] * 8), "SERVER", now - SECOND, now)
        for n in range(count)
    ]
    return [replace(made[0], parent_id=b""), *made[1:]]


def sent(stack: Stack, *messages: list[SentSpan]) -> Reference:
    start = end_offsets(stack, "otlp_spans")
    produce(stack.address["SLUICE_KAFKA"], [(message(part), n % 2) for n, part in enumerate(messages)])
    return Reference(records_since(stack, start))


def causes(reference: Reference) -> list[str]:
    return [judge(span) for record in reference.read for span in record.spans or []]


def test_ids_of_wrong_length(stack: Stack) -> None:
    good = spans("bad-ids", 12)
    bad = [
        replace(good[1], trace_id=b""),
        replace(good[2], trace_id=b"\x01" * 15),
        replace(good[3], trace_id=b"\x01" * 17),
        replace(good[4], trace_id=bytes(16)),
        replace(good[5], span_id=b""),
        replace(good[6], span_id=b"\x01" * 7),
        replace(good[7], span_id=b"\x01" * 9),
        replace(good[8], span_id=bytes(8)),
        replace(good[9], parent_id=b"\x01" * 7),
        replace(good[10], parent_id=b"\x01" * 1000),
    ]
    reference = sent(stack, [good[0], *bad, good[11]])
    assert causes(reference) == ["accepted", *["bad_id"] * 10, "accepted"]
    check_all(stack, "bad-ids", reference)


def test_times_of_zero_and_far_away(stack: Stack) -> None:
    good = spans("bad-times", 11)
    now = good[0].end_ns
    bad = [
        replace(good[1], start_ns=0),
        replace(good[2], start_ns=0, end_ns=0),
        replace(good[3], start_ns=1, end_ns=1),
        replace(good[4], start_ns=now - 8 * DAY),
        replace(good[5], end_ns=now + DAY),
        replace(good[6], end_ns=2**63 - 1),
        replace(good[7], end_ns=2**64 - 1),
        replace(good[8], start_ns=2**64 - 1, end_ns=2**64 - 1),
        replace(good[9], start_ns=2**63, end_ns=2**63),
    ]
    reference = sent(stack, [good[0], *bad, replace(good[10], start_ns=now + 1)])
    assert causes(reference) == ["accepted", *["clock_out_of_range"] * 9, "ends_before_start"]
    check_all(stack, "bad-times", reference)


def test_spans_that_last_for_days(stack: Stack) -> None:
    """Calls are spread over their newest ten minutes, their durations whole. A rule leaves SERVER spans out."""
    good = spans("bad-length", 5)
    now = good[0].end_ns
    days = [replace(span, kind="CLIENT", start_ns=now - n * DAY) for n, span in enumerate(good[1:4], start=4)]
    reference = sent(stack, [good[0], *days, replace(good[4], kind="SERVER", start_ns=now - DAY)])
    outcomes = {key[1]: row["spans"] for key, row in reference.ingest_counts().items() if key[0] == "concurrency"}
    assert outcomes == {"accepted": 2, "accepted_cut": 3}
    check_all(stack, "bad-length", reference)


def test_parents_in_a_ring_and_spans_that_are_their_own(stack: Stack) -> None:
    """They count as spans and as calls between the services that they name; on no path is any of them."""
    made = [replace(span, service=f"bad-parents-{n}") for n, span in enumerate(spans("", 6))]
    ring = [replace(span, parent_id=made[(n + 1) % 3].span_id) for n, span in enumerate(made[:3])]
    own = [replace(span, parent_id=span.span_id) for span in made[3:5]]
    reference = sent(stack, [*ring, *own, made[5]])
    assert set(causes(reference)) == {"accepted"}
    check_all(stack, "bad-parents", reference)


def test_span_ids_that_were_there(stack: Stack) -> None:
    """In the same message, in another one, and with another content: the first of its trace stays."""
    good = spans("bad-twins", 5)
    twin = replace(good[1], end_ns=good[1].end_ns - SECOND // 2, service="bad-twins-other")
    reference = sent(stack, [*good, twin, good[2]], [good[3]])
    outcomes = {key[1:3]: row["spans"] for key, row in reference.ingest_counts().items() if key[0] == "call_graph"}
    assert outcomes == {
        ("accepted", "bad-twins"): 5,
        ("duplicate_span", "bad-twins"): 2,
        ("duplicate_span", "bad-twins-other"): 1,
    }
    check_all(stack, "bad-twins", reference)
