"""Messages that are not OTLP, one fault each, through the real job: each counts and becomes a letter, nothing stops."""

import base64
import json
import time

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.traffic.messages import SentSpan, message, produce
from sluice_kit.traffic.wire import LENGTH, field, mistyped, tag

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
SERVICE = "bad-bytes"
#: A key of Span, Link, Status, KeyValue and AnyValue each, by the fields that lead there from the request.
SPAN = (1, 2, 2)
KNOWN_BYTES = {
    "resource_spans": (1,),
    "resource": (1, 1),
    "scope_spans": (1, 2),
    "resource attribute": (1, 1, 1),
    "span": (1, 2, 2),
    "trace_id": (*SPAN, 1),
    "span_id": (*SPAN, 2),
    "parent_span_id": (*SPAN, 4),
    "name": (*SPAN, 5),
    "attribute": (*SPAN, 9),
    "attribute key": (*SPAN, 9, 1),
    "attribute value": (*SPAN, 9, 2),
    "link": (*SPAN, 13),
    "link's trace_id": (*SPAN, 13, 1),
    "status": (*SPAN, 15),
}
KNOWN_NUMBERS = {"kind": ((*SPAN, 6), 0), "start": ((*SPAN, 7), 1), "end": ((*SPAN, 8), 1), "code": ((*SPAN, 15, 3), 0)}


def good_spans(service: str) -> list[SentSpan]:
    """Two calls that just ended, in two resources, with every field that the jobs read."""
    now = time.time_ns()
    trace_id = now.to_bytes(16, "big")
    client = SentSpan(
        service,
        trace_id,
        b"client-1",
        b"",
        "CLIENT",
        now - SECOND,
        now,
        instance="i-1",
        host="h-1",
        error=True,
        attributes=(("peer.service", f"{service}-b"), ("http.method", "GET")),
        links=(trace_id,),
    )
    server = SentSpan(f"{service}-b", trace_id, b"server-1", b"client-1", "SERVER", now - SECOND // 2, now)
    return [client, server]


def malformed(stack: Stack) -> int:
    """Messages that the concurrency job could not decode, so far."""
    return int(
        stack.value(
            "SELECT sum(messages) FROM ingest_counts FINAL WHERE job = 'concurrency' AND outcome = 'malformed_message'"
        )
    )


def check_each_is_counted_and_kept(stack: Stack, bad: list[bytes | None]) -> None:
    """Each message counts once as malformed, for each job, and is a dead letter with its bytes."""
    before, start = malformed(stack), end_offsets(stack, "otlp_dead_letter")
    produce(stack.address["SLUICE_KAFKA"], [(value, n % 2) for n, value in enumerate(bad)])
    expected = before + len(bad)
    assert eventually(lambda: malformed(stack), expected, steady_s=2) == expected
    letters = [json.loads(letter) for letter in messages_since(stack, start)]
    assert {letter["reason"] for letter in letters} == {"malformed_message"}
    kept = [base64.b64decode(letter.get("payload", "")) for letter in letters]
    assert sorted(kept) == sorted(value or b"" for value in bad)


def test_a_message_cut_at_every_byte(stack: Stack) -> None:
    whole = message(good_spans(SERVICE))
    decodable = [n for n in range(len(whole)) if is_otlp(whole[:n])]
    assert len(decodable) == 2  # nothing, and the first of two resources
    check_each_is_counted_and_kept(stack, [whole[:n] for n in range(len(whole)) if n not in decodable])

    produce(stack.address["SLUICE_KAFKA"], [(whole[:n], 0) for n in decodable])
    accepted = f"SELECT sum(spans) FROM ingest_counts FINAL WHERE job = 'concurrency' AND service LIKE '{SERVICE}%'"
    assert eventually(lambda: int(stack.value(accepted)), 1) == 1


def is_otlp(value: bytes) -> bool:
    try:
        ExportTraceServiceRequest.FromString(value)
    except Exception:
        return False
    return True


def test_every_known_field_of_another_wire_type(stack: Stack) -> None:
    bad: list[bytes | None] = []
    for path in KNOWN_BYTES.values():
        bad += [nested(path[:-1], wrong) for _, wrong in mistyped(path[-1])]
    for path, wire_type in KNOWN_NUMBERS.values():
        bad += [nested(path[:-1], wrong) for other, wrong in mistyped(path[-1]) if other != wire_type]
        bad.append(nested(path[:-1], field(path[-1], b"\x01" * 8)))
    assert len(bad) == 15 * 7 + 4 * 7
    check_each_is_counted_and_kept(stack, bad)


def nested(path: tuple[int, ...], content: bytes) -> bytes:
    """`content` within fields of messages, the first of `path` outermost."""
    for number in reversed(path):
        content = field(number, content)
    return content


def test_no_message_at_all(stack: Stack) -> None:
    """A tombstone is malformed; an empty message has no spans, which is no fault."""
    before, start = malformed(stack), end_offsets(stack, "otlp_dead_letter")
    produce(stack.address["SLUICE_KAFKA"], [(b"", 0), (None, 0), (b"", 1)])
    assert eventually(lambda: malformed(stack), before + 1) == before + 1
    assert len(messages_since(stack, start)) == 1


def test_names_that_are_not_utf8(stack: Stack) -> None:
    """They are read with replacement characters, as far as they are text, and the spans count."""
    whole = message(good_spans("utf8-NAME"))
    bad = whole.replace(b"utf8-NAME", b"utf8-\xff\xfe\xc3(")
    assert len(bad) == len(whole)
    assert not is_otlp(bad)
    produce(stack.address["SLUICE_KAFKA"], [(bad, 0)])
    names = "SELECT groupUniqArray(service) FROM windows WHERE startsWith(service, 'utf8-')"
    expected = ["utf8-\ufffd\ufffd\ufffd(", "utf8-\ufffd\ufffd\ufffd(-b"]
    assert eventually(lambda: sorted(stack.value(names)), expected) == expected


def test_lengths_that_lie(stack: Stack) -> None:
    """A length beyond the message, beyond memory, and negative."""
    lengths = [b"\x7f", b"\xff\xff\xff\xff\x07", b"\xff" * 9 + b"\x01", b"\xff" * 11]
    check_each_is_counted_and_kept(stack, [tag(1, LENGTH) + length for length in lengths])
