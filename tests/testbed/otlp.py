"""Spans as OTLP messages."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from .spans import SERVER, Span, SpanSite

HOST = "shop-host-1"
SCOPE = "testbed"


def encode(spans: Iterable[Span], hosts: Mapping[str, str] = MappingProxyType({})) -> ExportTraceServiceRequest:
    """One request with a ResourceSpans per instance; the spans' times are Unix ns already.

    hosts: by instance, of those that do not run on HOST.
    """
    request = ExportTraceServiceRequest()
    resources: dict[tuple[str, str], ResourceSpans] = {}
    for span in spans:
        key = (span.site.service, span.instance)
        group = resources.get(key)
        if group is None:
            host = hosts.get(span.instance, HOST)
            group = resources[key] = request.resource_spans.add(resource=container(*key, host))
            group.scope_spans.add().scope.name = SCOPE
        _fill(group.scope_spans[0].spans.add(), span)
    return request


def _fill(out: OtlpSpan, span: Span) -> None:
    out.CopyFrom(_template(span.site, span.failed))
    out.trace_id = span.trace_id.to_bytes(16, "big")
    out.span_id = span.span_id.to_bytes(8, "big")
    if span.parent_id:
        out.parent_span_id = span.parent_id.to_bytes(8, "big")
    out.start_time_unix_nano = span.start_ns
    out.end_time_unix_nano = span.end_ns


@cache
def _template(site: SpanSite, failed: bool) -> OtlpSpan:
    kind = OtlpSpan.SPAN_KIND_SERVER if site.side == SERVER else OtlpSpan.SPAN_KIND_CLIENT
    template = OtlpSpan(name=site.name, kind=kind, attributes=[attribute(k, v) for k, v in site.attributes])
    if site.status_attribute:
        template.attributes.append(attribute("http.response.status_code", 503 if failed else 200))
    if failed:
        template.attributes.append(attribute("error.type", "503" if site.status_attribute else "pool_exhausted"))
        template.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message="a queue is full"))
    return template


@cache
def container(service: str, instance: str, host: str) -> Resource:
    names = {"service.name": service, "service.instance.id": instance, "host.name": host}
    return Resource(attributes=[attribute(key, value) for key, value in names.items()])


def attribute(key: str, value: str | int) -> KeyValue:
    return KeyValue(
        key=key, value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
    )
