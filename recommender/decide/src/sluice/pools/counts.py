"""Metrics of pools for Prometheus."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterable
from itertools import islice

from prometheus_client import CollectorRegistry, Counter, Gauge

from sluice.pools.commit import PoolsCommit
from sluice.pools.critical.localizations import Localizations
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.transitions import Case
from sluice.pools.publication.alarms import CONTRADICTED, TAKEN_BACK, Entered
from sluice.pools.publication.publication import Content

# Each is a time series.
MOST_ROOTS = 50


class PoolMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._pools = Gauge("sluice_decider_pools", "Pools of these shards.", registry=registry)
        self._clocks = Gauge(
            "sluice_decider_clocks_off", "Instances with a clock offset, which is subtracted.", registry=registry
        )
        self._farthest = Gauge("sluice_decider_clock_offset_max_seconds", "Largest clock offset.", registry=registry)
        self._decisions = Counter("sluice_decider_decisions", "Decisions on pools.", registry=registry)
        self._standing = Gauge(
            "sluice_decider_not_renewed", "Pools without a decision in the last period.", registry=registry
        )
        self._written = Counter(
            "sluice_decider_records", "Records written to the journal.", ["topic"], registry=registry
        )
        self._taken_back = Counter(
            "sluice_decider_taken_back",
            "Pools whose last change was taken back, or is in doubt, by reason; each case counts once.",
            ["reason"],
            registry=registry,
        )
        self._given_up = Gauge(
            "sluice_decider_pools_given_up",
            "Pools held at the operator's size, because Sluice's size completed less.",
            registry=registry,
        )
        self._not_reverted = Gauge(
            "sluice_decider_pools_not_reverted",
            "Pools whose newest decision takes a change back, with another size still in force.",
            registry=registry,
        )
        self._contradicted = Gauge(
            "sluice_decider_pools_contradicted",
            "Pools without decisions, because spans contradict other data, by reason.",
            ["reason"],
            registry=registry,
        )
        self._holds_up = Gauge(
            "sluice_decider_holds_up_ratio",
            "Part of a root operation's p95 that is the blame of its critical service; the operations with the most"
            f" traces, at most {MOST_ROOTS}.",
            ["root_service", "root_operation", "service"],
            registry=registry,
        )
        # Starts at 0, so that the first time is an increase too.
        for reason in TAKEN_BACK:
            self._taken_back.labels(reason)

    def pools(self, pools: int, cases: Iterable[str]) -> None:
        """pools: of all shards of this decider. cases: of the pools in an alarm."""
        self._pools.set(pools)
        tally = Tally(cases)
        self._given_up.set(tally[Case.GAVE_UP.name])
        for reason in CONTRADICTED:
            self._contradicted.labels(reason).set(tally[reason])

    def reverting(self, contents: Iterable[Content]) -> None:
        """contents: of the newest decision of each pool."""
        self._not_reverted.set(
            sum(content.basis == Basis.REVERT.value and content.current != content.target for content in contents)
        )

    def clocks(self, off: int, farthest_ms: float) -> None:
        """off: instances with an offset. farthest_ms: the largest offset."""
        self._clocks.set(off)
        self._farthest.set(farthest_ms / 1e3)

    def critical(self, by_root: Localizations) -> None:
        """by_root: of all root operations, the one with the most traces first."""
        self._holds_up.clear()
        for root, of in islice(by_root.items(), MOST_ROOTS):
            share = of.ranking[0].share_of_p95 if of.ranking else None
            if of.critical is not None and share is not None:
                self._holds_up.labels(*root, of.critical).set(share)

    def decided(self, decided: int, not_renewed: int) -> None:
        self._decisions.inc(decided)
        self._standing.set(not_renewed)

    def written(self, commit: PoolsCommit) -> None:
        inputs = len(commit.pauses) + len(commit.scalings)
        for topic, records in (
            ("decisions", len(commit.decisions) + len(commit.candidates)),
            ("explanations", len(commit.explanations)),
            ("state", len(commit.states) + inputs),
        ):
            self._written.labels(topic).inc(records)

    def entered(self, pools: Collection[Entered]) -> None:
        """pools: those that entered a case with this period."""
        for pool in pools:
            if pool.case in TAKEN_BACK:
                self._taken_back.labels(pool.case).inc()
