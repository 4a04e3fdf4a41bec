"""How busy hosts and containers are, as OTLP metrics: what a node's agent would send."""

import logging
from collections.abc import Callable, Iterator
from typing import Protocol

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, ResourceMetrics
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from .application import Application
from .host import Host
from .otlp import attribute, container
from .service import Instance

log = logging.getLogger(__name__)

TIMEOUT_S = 5.0


class Utilization:
    """Readings of an application's hosts, and of the containers on them, each since the one before."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._at_s = application.engine.now
        self._used: dict[str, float] = {}

    def read(self, wall_ns: int) -> ExportMetricsServiceRequest:
        """Gauges at ``wall_ns`` (Unix time): the mean since the last call. Empty where no time has passed."""
        request = ExportMetricsServiceRequest()
        seconds = self._application.engine.now - self._at_s
        if seconds <= 0:
            return request
        self._at_s += seconds
        on_host = dict.fromkeys(self._application.hosts, 0.0)
        for service in self._application.services.values():
            for instance in service.instances:
                if instance.host is None:
                    continue
                cores = self._cores(instance, seconds)
                on_host[instance.host.name] += cores
                resource = container(service.spec.name, instance.name, instance.host.name)
                values = {"container.cpu.usage": cores, "k8s.container.cpu.limit.current": service.cores}
                request.resource_metrics.append(_gauges(resource, values, wall_ns))
        for host in self._application.hosts.values():
            resource = Resource(attributes=[attribute("host.name", host.name)])
            values = dict(_of_host(host, on_host[host.name]))
            request.resource_metrics.append(_gauges(resource, values, wall_ns))
        return request

    def _cores(self, instance: Instance, seconds: float) -> float:
        used = instance.cpu.used()
        cores = (used - self._used.get(instance.name, 0.0)) / seconds
        self._used[instance.name] = used
        return cores


def _of_host(host: Host, cores: float) -> Iterator[tuple[str, float]]:
    """cores: what the containers of the model used. Their own memory bandwidth and network are not modelled."""
    cpu, memory_bandwidth, network = host.others
    yield "system.cpu.utilization", max(0.0, 1.0 - cpu - cores / host.cores)
    yield "system.memory.bandwidth.utilization", memory_bandwidth
    yield "hw.network.bandwidth.utilization", network


def _gauges(resource: Resource, values: dict[str, float], wall_ns: int) -> ResourceMetrics:
    group = ResourceMetrics(resource=resource)
    metrics = group.scope_metrics.add().metrics
    for name, value in values.items():
        metric = Metric(name=name)
        point = metric.gauge.data_points.add(time_unix_nano=wall_ns, as_double=value)
        if name == "system.cpu.utilization":
            point.attributes.append(attribute("cpu.mode", "idle"))
        metrics.append(metric)
    return group


class Call(Protocol):
    def add_done_callback(self, done: Callable[["Call"], None]) -> None: ...

    def exception(self) -> BaseException | None: ...


class MetricsSender:
    """Sends without waiting; what a receiver that is away misses is gone: the next reading stands for itself."""

    def __init__(self, address: str) -> None:
        self.sent = 0
        self.lost = 0
        self._channel = grpc.insecure_channel(address)
        self._export = MetricsServiceStub(self._channel).Export  # type: ignore[no-untyped-call]

    def send(self, request: ExportMetricsServiceRequest) -> None:
        if request.resource_metrics:
            self._export.future(request, timeout=TIMEOUT_S).add_done_callback(self._answered)

    def close(self) -> None:
        self._channel.close()

    def _answered(self, call: Call) -> None:
        if call.exception() is None:
            self.sent += 1
        else:
            self.lost += 1
