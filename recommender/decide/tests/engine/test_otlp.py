"""The decider's metrics, sent to a real OTLP receiver."""

# ruff: noqa: N802 (method names are those of the service)

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)

from sluice.engine.counts import EngineMetrics
from sluice.engine.otlp import Push


class Receiver(MetricsServiceServicer):
    def __init__(self) -> None:
        self.taken: list[ExportMetricsServiceRequest] = []

    def Export(self, request: ExportMetricsServiceRequest, context: grpc.ServicerContext) -> object:
        self.taken.append(request)
        return ExportMetricsServiceResponse()

    def values(self) -> dict[tuple[str, str], float]:
        """By name, and the value of its label; of the newest request."""
        found = {}
        for metric in self.taken[-1].resource_metrics[0].scope_metrics[0].metrics:
            for point in (*metric.gauge.data_points, *metric.sum.data_points):
                label = "".join(each.value.string_value for each in point.attributes)
                found[metric.name, label] = point.as_double or float(point.as_int)
        return found


def test_what_prometheus_reads_goes_by_otlp_too(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, server = Receiver(), grpc.server(ThreadPoolExecutor(2))
    add_MetricsServiceServicer_to_server(receiver, server)  # type: ignore[no-untyped-call]
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    server.start()
    counts = EngineMetrics()
    push = Push(counts.registry, environment)
    counts.period(spent_ms=1_500, asked_ms=1_000)
    counts.failed("decision")
    counts.failed("decision")
    push.close()
    server.stop(None).wait()
    values = receiver.values()
    assert values["sluice_decider_period_seconds", ""] == 1.5
    assert values["sluice_decider_overruns_total", ""] == 1
    assert values["sluice_decider_failures_total", "decision"] == 2
    (service,) = [
        each.value.string_value
        for each in receiver.taken[0].resource_metrics[0].resource.attributes
        if each.key == "service.name"
    ]
    assert service == "sluice-decider"
    # Nothing that Prometheus reads is missing.
    named = {sample.name for family in counts.registry.collect() for sample in family.samples}
    assert named == {name for name, _ in values}
