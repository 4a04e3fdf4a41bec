"""The decider's metrics for Prometheus."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics

from sluice.pools.policy.transitions import Case
from sluice.pools.product import Period, ShardDecider
from sluice.pools.publication.alarms import CONTRADICTED, TAKEN_BACK, Entered

# Disables the creation time of counters, which Sluice's other programs do not export either.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Counts:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.looked_ms = 0
        """Unix time of the loop's last turn."""
        self._period = Gauge("sluice_decider_period_seconds", "Duration of the last period.", registry=self.registry)
        self._periods = Counter("sluice_decider_periods", "Periods that ended.", registry=self.registry)
        self._over = Counter(
            "sluice_decider_overruns", "Periods that took longer than configured.", registry=self.registry
        )
        self._shards = Gauge("sluice_decider_shards", "Shards that this decider owns.", registry=self.registry)
        self._pools = Gauge("sluice_decider_pools", "Pools of these shards.", registry=self.registry)
        self._applications = Gauge(
            "sluice_decider_applications", "Applications of these shards with subsets.", registry=self.registry
        )
        self._clocks = Gauge(
            "sluice_decider_clocks_off", "Instances with a clock offset, which is subtracted.", registry=self.registry
        )
        self._farthest = Gauge(
            "sluice_decider_clock_offset_max_seconds", "Largest clock offset.", registry=self.registry
        )
        self._decisions = Counter("sluice_decider_decisions", "Decisions on pools.", registry=self.registry)
        self._standing = Gauge(
            "sluice_decider_not_renewed", "Pools without a decision in the last period.", registry=self.registry
        )
        self._written = Counter(
            "sluice_decider_records", "Records written to the journal.", ["topic"], registry=self.registry
        )
        self._failed = Counter("sluice_decider_failures", "Failures by activity.", ["source"], registry=self.registry)
        self._taken_back = Counter(
            "sluice_decider_taken_back",
            "Pools whose last change was taken back, or is in doubt, by reason; each case counts once.",
            ["reason"],
            registry=self.registry,
        )
        self._given_up = Gauge(
            "sluice_decider_pools_given_up",
            "Pools held at the operator's size, because Sluice's size completed less.",
            registry=self.registry,
        )
        self._contradicted = Gauge(
            "sluice_decider_pools_contradicted",
            "Pools without decisions, because spans contradict other data, by reason.",
            ["reason"],
            registry=self.registry,
        )
        # Starts at 0, so that the first time is an increase too.
        for reason in TAKEN_BACK:
            self._taken_back.labels(reason)
        self._newest = Gauge(
            "sluice_decider_newest_period_timestamp_seconds",
            "Start of the newest committed period.",
            registry=self.registry,
        )

    def looked(self, now_ms: int, deciders: Mapping[int, ShardDecider]) -> None:
        self.looked_ms = now_ms
        self._shards.set(len(deciders))
        self._pools.set(sum(len(each.config.pools) for each in deciders.values()))
        # Each shard reads the offsets of all instances.
        self._clocks.set(max((len(each.clocks.known_ms) for each in deciders.values()), default=0))
        self._farthest.set(max((each.clocks.farthest_ms for each in deciders.values()), default=0) / 1e3)
        self._applications.set(sum(len(each.config.subsets) for each in deciders.values()))
        cases = Tally(case for each in deciders.values() for case in each.alarms.values())
        self._given_up.set(cases[Case.GAVE_UP.name])
        for reason in CONTRADICTED:
            self._contradicted.labels(reason).set(cases[reason])

    def period(self, spent_ms: float, asked_ms: float) -> None:
        self._period.set(spent_ms / 1e3)
        self._periods.inc()
        self._over.inc(spent_ms > asked_ms)

    def decided(self, period: Period, written: bool) -> None:
        commit = period.commit
        self._decisions.inc(len(period.words.answers))
        self._standing.set(len(period.not_renewed))
        self._newest.set(commit.heartbeat.computed_at_ms / 1e3)
        if written:
            told = len(commit.pauses) + len(commit.scalings)
            for topic, records in (
                ("decisions", len(commit.decisions)),
                ("explanations", len(commit.explanations)),
                ("state", len(commit.states) + told),
            ):
                self._written.labels(topic).inc(records)

    def entered(self, pools: Iterable[Entered]) -> None:
        """pools: those that entered a case with this period."""
        for each in pools:
            if each.case in TAKEN_BACK:
                self._taken_back.labels(each.case).inc()

    def failed(self, source: str) -> None:
        """source: the activity that failed, without its object."""
        self._failed.labels(source).inc()
