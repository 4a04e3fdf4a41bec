"""What each pool's estimate stands on: which samples count, what is remembered, and what is learnt from a period."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.collect import Measured
from sluice.control.curves import Curves, Kept
from sluice.control.scalings import Scalings
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Estimate, Reason, State
from sluice.pools.estimate.attempt import Job
from sluice.pools.estimate.drift import Shift
from sluice.pools.estimate.memory import UNTOLD, Footing, Kind, Prior, prior_for, remember


@dataclass(frozen=True)
class Ground:
    """since_ms: samples from before it do not count (Unix ms), None when all do. prior: what is remembered."""

    footing: Footing = UNTOLD
    since_ms: int | None = None
    prior: Prior | None = None
    reasons: tuple[Reason, ...] = ()


UNCHANGED = Ground()


class Grounds:
    """For the control loop's thread. `take` hands over the curves that changed, to be stored."""

    def __init__(self, scalings: Scalings, curves: Curves) -> None:
        self._scalings, self._curves = scalings, curves
        self._changed: list[Kept] = []

    def restore(self, kept: list[Kept]) -> None:
        self._curves.restore(kept)

    def take(self) -> list[Kept]:
        changed, self._changed = self._changed, []
        return changed

    def of(self, key: PoolKey, threshold_ms: float, now_ms: int, window_ms: int) -> Ground:
        standing = self._scalings.standing(key)
        drifted = self._curves.drifted_ms(key)
        since = max((at for at in (standing.since_ms, drifted) if at is not None), default=None)
        prior = prior_for(self._curves.of(key), standing.footing, threshold_ms)
        reasons: list[Reason] = []
        if standing.since_ms is not None and now_ms - standing.since_ms < window_ms:
            reasons.append(Reason("SCALED", f"{standing.footing} since {_ago(now_ms - standing.since_ms)}"))
        if drifted is not None and now_ms - drifted < window_ms:
            reasons.append(Reason("DRIFT", f"the service became another one {_ago(now_ms - drifted)}"))
        return Ground(standing.footing, since, prior, tuple(reasons))

    def job(self, key: PoolKey, model: str, ground: Ground, measured: Measured | None) -> Job:
        """`measured` is already cut to the ground."""
        if measured is None:
            return Job(model, None)
        found = self._curves.of(key).get(ground.footing)
        then = found.rates if found is not None and found.bucket_ms == measured.bucket_ms else None
        prior = ground.prior
        band = None
        if prior is not None and prior.kind is Kind.SAME:
            band = (prior.found.lower_bound, prior.found.upper_bound)
        return Job(model, measured.samples, measured.bucket_start_ms, then, band, measured.bucket_ms)

    def drifted(self, key: PoolKey, ground: Ground, shift: Shift, now_ms: int) -> Ground:
        """Forgets every curve of the pool; the ground begins anew."""
        self._changed += self._curves.forget(key, shift.since_ms, now_ms)
        text = f"throughput at the same concurrency is {shift.change:+.0%} of what the remembered curve says"
        reasons = (*(one for one in ground.reasons if one.code != "DRIFT"), Reason("DRIFT", text))
        return replace(ground, since_ms=shift.since_ms, prior=None, reasons=reasons)

    def learn(
        self,
        key: PoolKey,
        ground: Ground,
        estimate: Estimate,
        measured: Measured,
        model: str,
        threshold_ms: float,
        now_ms: int,
        window_ms: int,
    ) -> None:
        if estimate.state is not State.PROVIDED:
            return
        if not self._curves.due(key, ground.footing, measured.bucket_ms, now_ms, window_ms):
            return
        found = remember(estimate, measured.samples, now_ms, model, threshold_ms, measured.bucket_ms)
        self._changed += self._curves.learn(key, ground.footing, found)


def _ago(ms: int) -> str:
    return f"{max(0, ms) / 1000:.0f} s ago"
