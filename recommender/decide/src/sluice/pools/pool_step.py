"""One pool in one control period, from the values that its observation is made of to its publication."""

from __future__ import annotations

from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.critical.holds_up import HoldsUp
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import Failed
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.scalings import Course
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import NO_BUCKETS, Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.roles.span_roles import NO_ROLES, SpanRoles
from sluice.pools.sampling.verdict import Sampling
from sluice.pools.section import Pool


class WindowSummary(NamedTuple):
    """The windows read: buckets of bucket_ms that start in [start_ms, end_ms). completions: of all instances.

    by_caller: whether callers' spans judged the completions; None where none were judged.
    """

    start_ms: int
    end_ms: int
    bucket_ms: int
    buckets: int
    completions: int
    instances: int
    by_caller: bool | None = None


class PoolStep(NamedTuple):
    """Made before the decision, and completed by it.

    - now_ms: Unix time. targets: as last read. course: of the hardware and versions.
    - estimate: of a published model; None where the belief decides.
    - state: before the decision; after it, the next state, or None where the state does not change: the step failed, or
      the pool is left for a later period.
    - observation: in its place, the buckets of a past window, to learn from without a decision.
    - windows: None before they are read, or without any.
    - decision, failure: None before the decision. Also after it, both are None for a past window and for a pool that is
      left for a later period.
    - notes: reasons that the answer states besides those of the decision. roles: of the pool's spans.
    - holds_up: root operations that the pool's service holds up; None: not known.
    - sampling: of the service's spans; None where they are all there.
    - cores: of the belief in the next state, None without one.
    """

    pool: Pool
    threshold: Threshold
    targets: tuple[TargetSize, ...]
    course: Course
    now_ms: int
    estimate: Estimate | None = None
    state: PoolState | None = None
    observation: Observation | Buckets = NO_BUCKETS
    windows: WindowSummary | None = None
    decision: Decision | None = None
    cores: float | None = None
    failure: Failed | None = None
    notes: tuple[Reason, ...] = ()
    holds_up: tuple[HoldsUp, ...] | None = None
    roles: SpanRoles = NO_ROLES
    sampling: Sampling | None = None

    @property
    def key(self) -> PoolKey:
        return self.pool.key

    def failed(self, cause: Exception) -> PoolStep:
        return self._replace(state=None, failure=Failed(type(cause).__name__, str(cause)))
