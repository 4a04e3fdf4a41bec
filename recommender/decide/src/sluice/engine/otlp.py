"""Exports the metrics for Prometheus by OTLP too, where and how the OTEL_EXPORTER_OTLP_* variables set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from prometheus_client import CollectorRegistry

SERVICE = "sluice-decider"
END_MS = 2_000


class Push:
    """Exports every OTEL_METRIC_EXPORT_INTERVAL, in a thread of its own; once more in `close`."""

    def __init__(self, registry: CollectorRegistry, environment: Mapping[str, str]) -> None:
        """registry: has all its counters and gauges already."""
        self._registry = registry
        name = environment.get("OTEL_SERVICE_NAME") or SERVICE
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        self._provider = MeterProvider([reader], Resource.create({SERVICE_NAME: name}), shutdown_on_exit=False)
        meter = self._provider.get_meter("sluice.decider")
        for family in registry.collect():
            if family.type == "counter":
                name = f"{family.name}_total"
                meter.create_observable_counter(name, [self._now(name)], description=family.documentation)
            else:
                meter.create_observable_gauge(family.name, [self._now(family.name)], description=family.documentation)

    def close(self) -> None:
        """Does not wait for a receiver that is away."""
        self._provider.shutdown(END_MS)

    def _now(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observed(_: CallbackOptions) -> Iterable[Observation]:
            for family in self._registry.restricted_registry([name]).collect():
                for sample in family.samples:
                    yield Observation(sample.value, sample.labels)

        return observed
