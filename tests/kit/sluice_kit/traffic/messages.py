"""Spans that a test makes up, as messages of otlp_spans, put there as the collector would but unchecked."""

from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

TOPIC = "otlp_spans"
PARTITIONS = 2


@dataclass(frozen=True)
class SentSpan:
    """`attributes` and `sizes` are the span's own, and `payload` one more; `links` names trace ids. What is empty is
    not sent."""

    service: str
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    kind: str
    start_ns: int
    end_ns: int
    instance: str = ""
    host: str = ""
    name: str = "work"
    error: bool = False
    attributes: tuple[tuple[str, str], ...] = ()
    sizes: tuple[tuple[str, int | str], ...] = ()
    links: tuple[bytes, ...] = ()
    payload: bytes = b""


def message(spans: Iterable[SentSpan]) -> bytes:
    """An ExportTraceServiceRequest: the spans in their order, those of one resource that follow each other together."""
    request = ExportTraceServiceRequest()
    resource: ResourceSpans | None = None
    last = None
    for span in spans:
        origin = (span.service, span.instance, span.host)
        if resource is None or origin != last:
            names = zip(("service.name", "service.instance.id", "host.name"), origin, strict=True)
            resource = request.resource_spans.add(resource=Resource(attributes=_attributes(names)))
            resource.scope_spans.add()
            last = origin
        resource.scope_spans[0].spans.append(_otlp(span))
    return request.SerializeToString()


def produce(kafka: str, messages: Iterable[tuple[bytes | None, int]], compression: str = "lz4") -> None:
    """Sends each message to the partition beside it; raises KafkaException for one that the broker refuses."""
    failed = []
    producer = Producer(
        {
            "bootstrap.servers": kafka,
            "acks": "all",
            "message.max.bytes": 64_000_000,
            "compression.type": compression,
            "enable.idempotence": True,
        }
    )
    for value, partition in messages:
        producer.produce(
            TOPIC, value, partition=partition, on_delivery=lambda error, _: failed.append(error) if error else None
        )
        producer.poll(0)
    assert producer.flush(60) == 0, "messages were not acknowledged within 60 s"
    assert not failed, failed


def _otlp(span: SentSpan) -> OtlpSpan:
    payload = [KeyValue(key="payload", value=AnyValue(bytes_value=span.payload))] if span.payload else []
    return OtlpSpan(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        name=span.name,
        kind=OtlpSpan.SpanKind.Value(f"SPAN_KIND_{span.kind}"),
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        attributes=[*_attributes(span.attributes), *_sizes(span.sizes), *payload],
        links=[OtlpSpan.Link(trace_id=trace_id, span_id=span.span_id) for trace_id in span.links],
        status=Status(code=Status.STATUS_CODE_ERROR) if span.error else None,
    )


def _attributes(names: Iterable[tuple[str, str]]) -> list[KeyValue]:
    return [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in names if value]


def _sizes(sizes: Iterable[tuple[str, int | str]]) -> list[KeyValue]:
    """A number as it should be sent, or a text, as some send it."""
    return [
        KeyValue(key=key, value=AnyValue(string_value=size) if isinstance(size, str) else AnyValue(int_value=size))
        for key, size in sizes
    ]
