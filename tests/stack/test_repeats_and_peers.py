"""Windows stay exact when messages are sent again, when only traces know who was called, and when spans are late."""

import time

from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sluice_kit.local_stack.driver import Stack, eventually

MS = 1_000_000
SECOND = 1_000 * MS
PARTITIONS = 2


class Trace:
    """Spans of one trace, a message for each service. Times in ns before now."""

    def __init__(self, ended_ago: int = SECOND) -> None:
        self.end = time.time_ns() - ended_ago
        self.id = self.end.to_bytes(16, "big")
        self.requests: dict[str, ExportTraceServiceRequest] = {}

    def add(self, service: str, n: int, kind: Span.SpanKind.ValueType, parent: int = 0, address: str = "") -> None:
        """A span that took 50 ms."""
        if service not in self.requests:
            request = self.requests[service] = ExportTraceServiceRequest()
            resource = request.resource_spans.add()
            resource.resource.attributes.add(key="service.name").value.string_value = service
            resource.scope_spans.add()
        span = (
            self.requests[service]
            .resource_spans[0]
            .scope_spans[0]
            .spans.add(
                trace_id=self.id,
                span_id=n.to_bytes(8, "big"),
                parent_span_id=parent.to_bytes(8, "big") if parent else b"",
                name="work",
                kind=kind,
                start_time_unix_nano=self.end - 50 * MS,
                end_time_unix_nano=self.end,
            )
        )
        if address:
            span.attributes.add(key="server.address").value.string_value = address

    def messages(self) -> list[bytes]:
        return [request.SerializeToString() for request in self.requests.values()]


def produce(stack: Stack, *messages: bytes, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all"})
    for message in messages:
        producer.produce("otlp_spans", message, partition=partition)
    assert producer.flush(20) == 0


def outcomes(stack: Stack, prefix: str, job: str = "concurrency") -> dict[str, int]:
    rows = stack.rows(
        f"""SELECT outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = '{job}' AND startsWith(service, '{prefix}') GROUP BY outcome HAVING spans != 0"""
    )
    return {row["outcome"]: int(row["spans"]) for row in rows}


def windows(stack: Stack, prefix: str) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """(service, side, peer): completions, of those in the histogram, busy ms."""
    rows = stack.rows(
        f"""SELECT service, side, peer, sum(completions) AS n, sum(arraySum(mapValues(latency))) AS counted,
                   intDiv(sum(busy_ns), {MS}) AS busy_ms
            FROM v_windows WHERE startsWith(service, '{prefix}') GROUP BY service, side, peer"""
    )
    return {
        (row["service"], row["side"], row["peer"]): (int(row["n"]), int(row["counted"]), int(row["busy_ms"]))
        for row in rows
    }


def test_a_message_that_is_sent_again_counts_once(stack: Stack) -> None:
    trace = Trace()
    trace.add("again-cart", 1, Span.SPAN_KIND_SERVER)
    trace.add("again-cart", 2, Span.SPAN_KIND_INTERNAL, parent=1)
    (message,) = trace.messages()
    produce(stack, message, message)
    produce(stack, message, partition=PARTITIONS - 1)

    expected = {"accepted": 2, "repeated_message": 4}
    for job in ("concurrency", "call_graph"):
        assert eventually(lambda job=job: outcomes(stack, "again-", job), expected) == expected
    assert windows(stack, "again-") == {("again-cart", "server", ""): (1, 1, 50)}


def test_client_spans_end_under_the_service_that_their_trace_shows(stack: Stack) -> None:
    trace = Trace()
    trace.add("peer-cart", 1, Span.SPAN_KIND_CLIENT)
    trace.add("peer-cart", 2, Span.SPAN_KIND_CLIENT, address="10.0.0.7")
    trace.add("peer-cart", 3, Span.SPAN_KIND_CLIENT, address="mysql")
    trace.add("peer-cart", 4, Span.SPAN_KIND_CLIENT)
    trace.add("peer-stock", 5, Span.SPAN_KIND_SERVER, parent=1)
    trace.add("peer-mail", 6, Span.SPAN_KIND_SERVER, parent=2)
    trace.add("peer-worker", 7, Span.SPAN_KIND_CONSUMER, parent=4)
    produce(stack, *trace.messages())
    # The same span in another message, as a collector that batches anew sends it: counted twice, and moved twice.
    again = Trace()
    again.id, again.end = trace.id, trace.end
    again.add("peer-cart", 1, Span.SPAN_KIND_CLIENT)
    produce(stack, *again.messages())

    expected = {
        ("peer-cart", "client", "peer-stock"): (2, 2, 100),
        ("peer-cart", "client", "peer-mail"): (1, 1, 50),
        ("peer-cart", "client", "mysql"): (1, 1, 50),
        ("peer-cart", "client", "unknown"): (1, 1, 50),
        ("peer-stock", "server", ""): (1, 1, 50),
        ("peer-mail", "server", ""): (1, 1, 50),
        ("peer-worker", "consumer", ""): (1, 1, 50),
    }
    assert eventually(lambda: windows(stack, "peer-"), expected) == expected


def test_late_spans_are_added_and_counted_apart(stack: Stack) -> None:
    for ended_ago in (SECOND, 90 * SECOND):
        trace = Trace(ended_ago)
        trace.add("late-cart", 1, Span.SPAN_KIND_SERVER)
        produce(stack, *trace.messages())
    expected = {"accepted": 1, "accepted_late": 1}
    assert eventually(lambda: outcomes(stack, "late-"), expected) == expected
    assert windows(stack, "late-") == {("late-cart", "server", ""): (2, 2, 100)}


def test_a_window_is_seen_also_on_a_quiet_topic(stack: Stack) -> None:
    time.sleep(8)  # nothing but clock records comes
    trace = Trace(0)
    trace.add("soon-cart", 1, Span.SPAN_KIND_SERVER)
    produce(stack, *trace.messages())
    expected = {("soon-cart", "server", ""): (1, 1, 50)}
    assert eventually(lambda: windows(stack, "soon-"), expected, steady_s=0) == expected
