"""The answer for one pool, as the API gives it and the table `recommendations` keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sluice.collect import Measured
from sluice.control.grounds import UNCHANGED, Ground
from sluice.control.sizes import TargetSize, conditions, one_size
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Estimate, Reason
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.policy.state import Learnt


@dataclass(frozen=True)
class Content:
    """What makes an answer a new one. Times, confidence and the words of the reasons do not.

    basis, action: as in sluice.pools.v1, without their prefix. sizes: of each target, by instance; an answer that was
    read back from the database has none.
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


@dataclass(frozen=True)
class Answer:
    """Fields as in sluice.pools.v1.PoolSize; times are Unix milliseconds. `measured` is None when nothing was.

    `ground.prior` is the one that the answer made use of, None when it made use of none. `learnt` is what it was
    decided by, from which a picture is drawn when somebody asks; None where no belief decided.
    """

    key: PoolKey
    content: Content
    reasons: tuple[Reason, ...]
    confidence: float
    model: str
    computed_at_ms: int
    valid_until_ms: int
    revision: int
    threshold: Threshold
    estimate: Estimate
    measured: Measured | None
    ground: Ground = UNCHANGED
    targets: tuple[TargetSize, ...] = ()
    learnt: Learnt | None = field(default=None, compare=False, repr=False)

    def stale(self, targets: tuple[TargetSize, ...]) -> Answer:
        """The same values, past their lease, beside the sizes known now. The lease stays where it was: over."""
        reason = Reason("LEASE_OVER", "no newer estimate: the last answer's lease is over, do not apply it")
        reasons = (reason, *conditions(targets))
        content = replace(
            self.content,
            state="STALE",
            current=one_size(targets),
            codes=tuple(reason.code for reason in reasons),
            action="HOLD",
            sizes=untimed(targets),
        )
        return replace(self, content=content, reasons=reasons, targets=targets)


def untimed(targets: tuple[TargetSize, ...]) -> tuple[tuple[str, int | None], ...]:
    """Sizes by instance, without when they were read: an answer is no other one for that."""
    return tuple((target.instance, target.size) for target in targets)
