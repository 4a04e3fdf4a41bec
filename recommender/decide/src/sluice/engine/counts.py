"""The engine's metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics

from sluice.engine.records import Heartbeat

# Disables the creation time of counters, which Sluice's other programs do not export either.
disable_created_metrics()  # type: ignore[no-untyped-call]


class EngineMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._period = Gauge("sluice_decider_period_seconds", "Duration of the last period.", registry=self.registry)
        self._periods = Counter("sluice_decider_periods", "Periods that ended.", registry=self.registry)
        self._over = Counter(
            "sluice_decider_overruns", "Periods that took longer than configured.", registry=self.registry
        )
        self._shards = Gauge("sluice_decider_shards", "Shards that this decider owns.", registry=self.registry)
        self._failed = Counter("sluice_decider_failures", "Failures by activity.", ["source"], registry=self.registry)
        text = "1 while the newest content of the configuration file is refused and an earlier one is in use."
        self._refused = Gauge("sluice_decider_configuration_refused", text, registry=self.registry)
        text = "Readings of the configuration file since the start by outcome: taken, refused."
        self._reloads = Counter("sluice_decider_reloads", text, ["outcome"], registry=self.registry)
        self._newest = Gauge(
            "sluice_decider_newest_period_timestamp_seconds",
            "Start of the newest committed period.",
            registry=self.registry,
        )

    def owns(self, shards: int) -> None:
        """shards: number that this decider owns."""
        self._shards.set(shards)

    def configured(self, legal: bool) -> None:
        """legal: whether the configuration file's newest content is in use."""
        self._reloads.labels("taken" if legal else "refused").inc()
        self._refused.set(not legal)

    def period(self, spent_ms: float, asked_ms: float) -> None:
        self._period.set(spent_ms / 1e3)
        self._periods.inc()
        self._over.inc(spent_ms > asked_ms)

    def committed(self, heartbeat: Heartbeat) -> None:
        self._newest.set(heartbeat.computed_at_ms / 1e3)

    def failed(self, source: str) -> None:
        """source: the activity that failed, without its object."""
        self._failed.labels(source).inc()
