"""Exports of two spans of which a test changes one, and messages put on the topic as they are."""

import time
from collections.abc import Callable

from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sluice_kit.local_stack.driver import Stack

SECOND = 1_000_000_000


def request_with(service: str | None, change: Callable[[Span], None] = lambda span: None) -> bytes:
    """An export of two spans that just ended: one as it should be, and one that `change` was applied to."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    if service is not None:
        attribute = resource.resource.attributes.add(key="service.name")
        attribute.value.string_value = service
    spans = resource.scope_spans.add().spans
    now = time.time_ns()
    for n in (1, 2):
        spans.add(
            trace_id=now.to_bytes(16, "big"),
            span_id=n.to_bytes(8, "big"),
            name="work",
            kind=Span.SPAN_KIND_SERVER,
            start_time_unix_nano=now - SECOND // 10,
            end_time_unix_nano=now - SECOND // 20,
        )
    change(spans[1])
    return request.SerializeToString()


def produce(stack: Stack, *messages: bytes) -> None:
    """Puts messages on otlp_spans as the collector would, but unchecked."""
    producer = Producer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all"})
    for message in messages:
        producer.produce("otlp_spans", message)
    assert producer.flush(20) == 0
