"""The inputs of one shard's decisions in a period, besides the windows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.critical.holds_up import HoldsUp, blame_of
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.operator_inputs import OperatorInputs
from sluice.pools.inputs.sizes import Sizes
from sluice.pools.metrics.in_force import notes_of, sizes_in_force
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.period.freshness import Freshness
from sluice.pools.period.published_models import Targets, judged_pools
from sluice.pools.policy.lateness import slow
from sluice.pools.policy.state import PoolState
from sluice.pools.pool_step import PoolStep
from sluice.pools.roles import span_roles
from sluice.pools.roles.span_roles import NO_ROLES, SpanRoles
from sluice.pools.sampling.service_samplings import ServiceSamplings
from sluice.pools.sampling.verdict import Sampling
from sluice.pools.section import Pool, PoolsSection


class PeriodInputs(NamedTuple):
    """now_ms: Unix time. paths: sets of pools of which one may look at a time. targets: of each pool, as last read.
    metrics: sizes by metrics, for pools without an actuator's report. samplings: of services whose spans are a sample.
    deferred: pools left for a later period. demands: new ones. unfit:
    why pools do not fit what spans show. held: by service, what it holds up; None: not known. roles: of the pools that
    have spans."""

    config: PoolsSection
    now_ms: int
    paths: list[set[PoolKey]]
    states: Mapping[PoolKey, PoolState]
    operator_inputs: OperatorInputs
    freshness: Freshness
    targets: Targets
    thresholds: Mapping[PoolKey, Threshold]
    metrics: MetricSizes
    samplings: ServiceSamplings
    deferred: frozenset[PoolKey] = frozenset()
    demands: Mapping[PoolKey, Demand] = MappingProxyType({})
    unfit: Mapping[PoolKey, Reason] = MappingProxyType({})
    held: Mapping[str, tuple[HoldsUp, ...]] | None = None
    roles: Mapping[PoolKey, SpanRoles] = MappingProxyType({})

    @property
    def thresholds_ns(self) -> dict[PoolKey, int]:
        """The thresholds of the pools whose completions the query judges one by one: those of published models, and
        those whose requests stay long against their SLO."""
        keys = dict.fromkeys(judged_pools(self.config.pools, self.targets))
        for key, state in self.states.items():
            threshold = self.thresholds.get(key)
            if threshold is not None and threshold.is_known and slow(state.learnt, threshold.value_ms / 1_000):
                keys[key] = None
        return {key: self.thresholds[key].value_ns for key in keys}

    def pool_step(self, pool: Pool) -> PoolStep:
        """The pool's step, without an observation."""
        course = self.operator_inputs.scalings.course(pool.key)
        state = self.state(pool.key)
        targets, sizes = self.targets[pool.key], self.operator_inputs.sizes
        roles = self.roles.get(pool.key, NO_ROLES)
        notes = (
            *notes_of(pool.key, targets, sizes, self.metrics, self.now_ms),
            *span_roles.notes_of(roles, sized=bool(targets)),
        )
        if (unfit := self.unfit.get(pool.key)) is not None:
            notes = (unfit, *notes)
        threshold = self.thresholds[pool.key]
        step = PoolStep(pool, threshold, targets, course, self.now_ms, state=state, notes=notes, roles=roles)
        return step._replace(holds_up=blame_of(pool.service, self.held), sampling=self.sampling(pool.service))

    def sampling(self, service: str) -> Sampling | None:
        """Whether the service's spans are a sample; None where they are all there."""
        return self.samplings.of(service, self.config.unsampled)

    def sizes(self, key: PoolKey) -> Sizes:
        """The sizes in force of the pool."""
        return sizes_in_force(self.targets, self.operator_inputs.sizes, self.metrics, key)

    def state(self, key: PoolKey) -> PoolState:
        """The pool's state; an empty one before its first decision."""
        return self.states.get(key) or PoolState()
