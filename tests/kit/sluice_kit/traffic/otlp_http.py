"""Requests to the collector over OTLP/HTTP, as an agent makes them."""

from collections.abc import Mapping

import requests
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE, NumberDataPoint

from sluice_kit.local_stack.driver import Stack


def attributes(values: Mapping[str, str]) -> list[KeyValue]:
    pairs = [KeyValue(key=key) for key in values]
    for pair in pairs:
        pair.value.string_value = values[pair.key]
    return pairs


def post(stack: Stack, signal: str, request: ExportTraceServiceRequest | ExportMetricsServiceRequest) -> None:
    """Sends a request to the collector over OTLP/HTTP."""
    answer = requests.post(
        f"http://{stack.address['SLUICE_OTLP_HTTP']}/v1/{signal}",
        data=request.SerializeToString(),
        headers={"Content-Type": "application/x-protobuf"},
        timeout=20,
    )
    assert answer.status_code == 200, answer.text


def send_metric(
    stack: Stack, resource: Mapping[str, str], name: str, *points: NumberDataPoint, counter: bool = False
) -> None:
    request = ExportMetricsServiceRequest()
    group = request.resource_metrics.add()
    group.resource.attributes.extend(attributes(resource))
    metric = group.scope_metrics.add().metrics.add(name=name)
    if counter:
        metric.sum.data_points.extend(points)
        metric.sum.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
        metric.sum.is_monotonic = True
    else:
        metric.gauge.data_points.extend(points)
    post(stack, "metrics", request)


def point(at_ns: int, value: float, start_ns: int = 0, **own: str) -> NumberDataPoint:
    return NumberDataPoint(
        time_unix_nano=at_ns, start_time_unix_nano=start_ns, as_double=value, attributes=attributes(own)
    )
