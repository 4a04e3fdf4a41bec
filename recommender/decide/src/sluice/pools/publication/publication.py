"""The answer for one pool: its decision in the form of the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sluice.fast.changed import changed
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.critical.holds_up import HoldsUp
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.deployments import Deployments
from sluice.pools.inputs.sizes import TargetSize, one_size
from sluice.pools.policy.decision import Advice, Decision
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.state import Learnt
from sluice.pools.pool_step import PoolStep, WindowSummary
from sluice.pools.roles.span_roles import NO_ROLES, SpanRoles

# A range's ends move with the noise of each second. A new range is published once an end moved by this share.
STANDS = 0.15
AWAITED = Reason("AWAITED", "the newest windows are from before the decider began; it waits for current ones")


class Hardware(NamedTuple):
    """The hardware advice without its rates, which change all the time."""

    kind: str
    cores: float | None
    replicas: int | None


@dataclass(frozen=True)
class Content:
    """The fields whose change makes a new answer. Times, confidence and texts of reasons are not among them.

    basis, action: as in sluice.pools.v1, without their prefix. sizes: of each target, by instance. targets: the
    instances that get the target size, () for all. owners: instance and reporter of each target that has one.
    advised: hardware; None without advice.
    """

    state: str
    current: int | None
    target: int | None
    lower_bound: int | None
    upper_bound: int | None
    unguarded_target: int | None
    codes: tuple[str, ...]
    basis: str = "UNSPECIFIED"
    action: str = "UNSPECIFIED"
    sizes: tuple[tuple[str, int | None], ...] = ()
    targets: tuple[str, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()
    advised: Hardware | None = None


@dataclass(frozen=True)
class Publication:
    """Fields as in sluice.pools.v1.PoolSize; times are Unix milliseconds.

    learnt: the evidence, without the belief, which would double its memory; an explanation makes the belief again on
    `cores`. cores: None without a belief. windows: None without measurements. estimate: of a published model, None
    where the belief decides. loss: expected at the size in force, as in `Decision`. since_ms: when the service last
    changed, by notification. holds_up: root operations that the pool's service holds up; None: not known. legal: the
    smallest and the largest legal size.
    """

    key: PoolKey
    content: Content
    reasons: tuple[Reason, ...]
    confidence: float
    model: str
    computed_at_ms: int
    revision: int
    threshold: Threshold
    learnt: Learnt = field(default_factory=Learnt, compare=False, repr=False)
    cores: float | None = field(default=None, compare=False)
    windows: WindowSummary | None = None
    estimate: Estimate | None = None
    loss: float | None = None
    deployments: Deployments = field(default_factory=Deployments)
    since_ms: int | None = None
    targets: tuple[TargetSize, ...] = ()
    advice: Advice | None = None
    holds_up: tuple[HoldsUp, ...] | None = None
    legal: tuple[int, int] | None = None
    roles: SpanRoles = field(default=NO_ROLES, compare=False, repr=False)


def publication(pool_step: PoolStep, decision: Decision) -> Publication:
    """The answer of this period, with revision 0: the revision is set once it is known whether the answer is new."""
    decided = (Reason(code, text) for code, text in decision.reasons)
    reasons = (*decided, *pool_step.notes, *pool_step.threshold.reasons)
    learnt = pool_step.state.learnt if pool_step.state is not None else Learnt()
    return Publication(
        key=pool_step.key,
        content=_content(decision, pool_step.targets, reasons),
        reasons=reasons,
        confidence=decision.confidence,
        model=pool_step.pool.model,
        computed_at_ms=pool_step.now_ms,
        revision=0,
        threshold=pool_step.threshold,
        learnt=learnt if learnt.kept is None else changed(learnt, kept=None),
        cores=pool_step.cores,
        windows=pool_step.windows,
        estimate=pool_step.estimate,
        loss=decision.loss,
        deployments=pool_step.course.now,
        since_ms=pool_step.course.since_ms,
        targets=pool_step.targets,
        advice=decision.advice,
        holds_up=pool_step.holds_up,
        legal=_legal(pool_step),
        roles=pool_step.roles,
    )


def undecided(pool_step: PoolStep) -> Publication:
    """The answer for a pool without any decision: the decider waits for current windows, or the step failed."""
    cause, targets = pool_step.failure, pool_step.targets
    reason = AWAITED if cause is None else Reason("FAILED", f"{cause.kind}: {cause.text}")
    content = Content(
        state="LEARNING",
        current=one_size(targets),
        target=None,
        lower_bound=None,
        upper_bound=None,
        unguarded_target=None,
        codes=(reason.code,),
        basis="HELD",
        action="HOLD",
        sizes=untimed(targets),
        owners=_owners(targets),
    )
    return Publication(
        key=pool_step.key,
        content=content,
        reasons=(reason,),
        confidence=0.0,
        model=pool_step.pool.model,
        computed_at_ms=pool_step.now_ms,
        revision=0,
        threshold=pool_step.threshold,
        targets=targets,
        holds_up=pool_step.holds_up,
        legal=_legal(pool_step),
    )


def _legal(pool_step: PoolStep) -> tuple[int, int]:
    if isinstance(pool_step.observation, Observation):
        return pool_step.observation.constraints.least, pool_step.observation.constraints.most
    return pool_step.pool.bounds.min, pool_step.pool.bounds.max


def _content(decision: Decision, targets: tuple[TargetSize, ...], reasons: tuple[Reason, ...]) -> Content:
    return Content(
        state=decision.state.value,
        current=one_size(targets),
        target=decision.target,
        lower_bound=decision.lower,
        upper_bound=decision.upper,
        unguarded_target=decision.unguarded,
        codes=tuple(reason.code for reason in reasons),
        basis=decision.basis.value,
        action=decision.action.value,
        sizes=untimed(targets),
        targets=decision.targets,
        owners=_owners(targets),
        advised=_hardware(decision.advice),
    )


def _owners(targets: tuple[TargetSize, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((target.instance, target.reporter) for target in targets if target.reporter)


def _hardware(advice: Advice | None) -> Hardware | None:
    return None if advice is None else Hardware(advice.kind.value, advice.to_cores, advice.to_replicas)


def settled(last: Content | None, new: Content) -> Content:
    """`new`, but with the published range and best size where none of them moved by much.

    Worked: 10 to 14, best 12, stays for a new 9 to 16 (10 x 0.85 = 8.5, 14 x 1.15 = 16.1), but not for 9 to 17. A
    target of 9, as good as the best one, would be outside of the published range: then 9 to 16 is published.
    """
    if last is None or not all(map(_alike, _range(last), _range(new))):
        return new
    lower, best, upper = _range(last)
    if _range(last) == _range(new):
        return last if last == new else new
    stands = changed(new, lower_bound=lower, unguarded_target=best, upper_bound=upper)
    return new if _holds_target(new) and not _holds_target(stands) else stands


def _range(content: Content) -> tuple[int | None, int | None, int | None]:
    return content.lower_bound, content.unguarded_target, content.upper_bound


def _holds_target(content: Content) -> bool:
    lower, upper, target = content.lower_bound, content.upper_bound, content.target
    return lower is not None and upper is not None and target is not None and lower <= target <= upper


def _alike(last: int | None, new: int | None) -> bool:
    if last is None or new is None:
        return last is new
    return abs(new - last) <= max(1.0, STANDS * last)


def untimed(targets: tuple[TargetSize, ...]) -> tuple[tuple[str, int | None], ...]:
    """Sizes by instance, without read times, which do not make a new answer."""
    return tuple((target.instance, target.size) for target in targets)
