"""Input of a size that nobody meant: memory stays bounded, nothing stops, and what is not used is counted."""

import random
import time
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from integration import random_traces
from integration.after_bad_input import good_data_counts
from support.messages import PARTITIONS, SentSpan, message, produce
from support.reference.spans import cut
from support.stack import Stack, eventually
from support.topics import end_offsets, messages_since
from support.truth import TABLES, Reference, check, records_since
from support.wire import field

SECOND = 1_000_000_000
TEN_MB = 10_000_000
MANY = 1_000_000
MAX_SPANS = 10_000


@pytest.fixture(autouse=True)
def good_data_counts_afterwards(stack: Stack, request: pytest.FixtureRequest) -> Iterator[None]:
    with good_data_counts(stack, request.node.nodeid):
        yield


@pytest.fixture(autouse=True, scope="module")
def whole_traces_count_afterwards(stack: Stack) -> Iterator[None]:
    with good_data_counts(stack, __name__, TABLES):
        yield


def server_span(service: str, number: int = 1, **more: object) -> SentSpan:
    now = time.time_ns()
    ids = {"trace_id": now.to_bytes(16, "big"), "span_id": number.to_bytes(8, "big"), "parent_id": b""}
    times = {"kind": "SERVER", "start_ns": now - SECOND, "end_ns": now}
    return SentSpan(service, **ids | times | more)  # type: ignore[arg-type]


def outcomes(stack: Stack, job: str, prefix: str) -> dict[str, int]:
    rows = stack.rows(
        f"""SELECT outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = '{job}' AND startsWith(service, '{prefix}') GROUP BY outcome HAVING spans != 0"""
    )
    return {row["outcome"]: int(row["spans"]) for row in rows}


def test_attributes_of_ten_megabytes_that_compress(stack: Stack) -> None:
    """The topic's limit counts compressed bytes: so they reach the job, in every place that it reads text from."""
    text = "é" * (TEN_MB // 2)

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
    for table in TABLES:
        check(stack, table, "huge-", reference)


def test_malformed_messages_of_ten_megabytes(stack: Stack) -> None:
    """A dead letter has to fit its topic: of a message that does not, it keeps the beginning and says so."""
    start = end_offsets(stack, "otlp_dead_letter")
    bad = field(1, field(2, b"\xff" * TEN_MB))
    produce(stack.address["SLUICE_KAFKA"], [(bad, n % 2) for n in range(6)])
    assert eventually(lambda: len(messages_since(stack, start)), 6) == 6


def test_a_million_spans_in_one_trace(stack: Stack) -> None:
    """10,000 are kept, the others counted; other traces of the same time are exact."""
    prefix = "beside-million-"
    trace_id = b"million" + random.Random(time.time_ns()).randbytes(9)
    beside = random_traces.placed(random_traces.batch(40), prefix, time.time_ns() - 60 * SECOND)
    sent = [(many_spans("million", trace_id, n * MAX_SPANS, MAX_SPANS), n % 2) for n in range(MANY // MAX_SPANS)]
    step = len(sent) // len(beside)
    for n, trace in enumerate(beside):
        sent.insert(n * (step + 1), (message(trace), n % PARTITIONS))
    start = end_offsets(stack, "otlp_spans")
    produce(stack.address["SLUICE_KAFKA"], sent)

    accepted = {"accepted": MANY}
    assert eventually(lambda: outcomes(stack, "concurrency", "million"), accepted) == accepted
    kept = {"accepted": MAX_SPANS, "trace_too_large": MANY - MAX_SPANS}
    assert eventually(lambda: outcomes(stack, "call_graph", "million"), kept) == kept
    windows = "SELECT sum(completions) FROM windows FINAL WHERE service = 'million'"
    assert eventually(lambda: int(stack.value(windows)), MANY) == MANY

    records = [record for record in records_since(stack, start) if prefix.encode() in (record.message or b"")]
    for table in TABLES:
        check(stack, table, prefix, Reference(records))


def many_spans(service: str, trace_id: bytes, first: int, count: int) -> bytes:
    """One message of `count` children of one parent, put together by hand: a library would take minutes."""
    now = time.time_ns()
    mark = b"SPAN--ID"
    (template,) = ExportTraceServiceRequest.FromString(
        message([SentSpan(service, trace_id, mark, b"parent-0", "SERVER", now - SECOND, now)])
    ).resource_spans
    before, after = template.scope_spans[0].spans[0].SerializeToString().split(mark)
    resource = field(1, template.resource.SerializeToString())
    spans = b"".join(field(2, before + n.to_bytes(8, "big") + after) for n in range(first + 1, first + count + 1))
    return field(1, resource + field(2, spans))


def test_a_hundred_thousand_services_in_one_message(stack: Stack) -> None:
    """Each with an instance of its own, and all in one trace."""
    count = 100_000
    now = time.time_ns()
    trace_id = now.to_bytes(16, "big")
    spans = [
        SentSpan(
            f"crowd-{n}", trace_id, (n + 1).to_bytes(8, "big"), b"", "SERVER", now - SECOND // 10, now, f"instance-{n}"
        )
        for n in range(count)
    ]
    produce(stack.address["SLUICE_KAFKA"], [(message(spans), 0)])
    accepted = {"accepted": count}
    assert eventually(lambda: outcomes(stack, "concurrency", "crowd-"), accepted) == accepted
    kept = {"accepted": MAX_SPANS, "trace_too_large": count - MAX_SPANS}
    assert eventually(lambda: outcomes(stack, "call_graph", "crowd-"), kept) == kept
    found = "SELECT uniqExact(service), uniqExact(instance) FROM windows WHERE startsWith(service, 'crowd-')"
    assert list(stack.rows(found)[0].values()) in ([count, count], [str(count), str(count)])
