"""The trial of a change of weights: measured against the time before it, and undone where the latency is worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

#: Windows that begin this long after a change show its effect: clients adopt it, and earlier requests end.
SETTLE_S = 10.0
#: How long a trial may wait for enough requests. Then its effect stays unknown, and the next change may come.
EXPIRES_S = 240.0
#: A change is worse where the percentile rises by this share, and by more than SURE standard errors.
WORSE, SURE = 0.05, 3.0
#: The standard error of ln(p95) of n requests is 1.1 / sqrt(n): sqrt(0.95 x 0.05 / n) / 0.103 x sigma, for a log-normal
#: distribution with sigma 0.5. For 600 requests: 0.045.
ERROR = 1.1
#: Measurements at loads that differ by more than this, relative to before, are not compared.
COMPARABLE = 0.2
FEWEST_REQUESTS = 100
#: The age at which a best measurement no longer counts, in seconds.
LONG_S = 1800.0


@dataclass(frozen=True)
class MeasuredLatency:
    """The 95th percentile of a service's request latency, over all of its containers, in ms. `requests`: their number
    in the windows from since_s until until_s (Unix time)."""

    p95_ms: float
    requests: int
    since_s: float
    until_s: float

    @property
    def rate_per_s(self) -> float:
        return self.requests / max(self.until_s - self.since_s, 1.0)


@dataclass(frozen=True, eq=False)
class LoadTrial:
    """A change of a service's loads, under trial since at_s. before, loads: the best recent measurement and the loads
    that it was made under (by container, relative to their mean); without one, those before the change."""

    at_s: float
    baseline: MeasuredLatency
    loads: Mapping[str, float]


def ended(trial: LoadTrial, now: MeasuredLatency | None, now_s: float) -> bool:
    """Whether the trial has enough requests, or expired."""
    return now_s - trial.at_s >= EXPIRES_S or (now is not None and _enough(trial, now))


def worse(trial: LoadTrial, now: MeasuredLatency | None) -> bool:
    """Whether an ended trial made the latency worse. Worked: 600 requests before with p95 40 ms and as many after:
    worse from 40 x 1.19 = 47.6 ms on."""
    if now is None or not _enough(trial, now) or not _comparable(trial.baseline, now):
        return False
    return _above(trial.baseline, now)


def begun(best: LoadTrial | None, now: MeasuredLatency, loads: Mapping[str, float], now_s: float) -> LoadTrial:
    """A new trial: a change from `loads`, under which `now` was measured. best: the best recent measurement.

    Comparing with the best one detects many changes that are each a bit worse. It does not apply where the latency
    became worse without a change of ours.
    """
    if best is None or now_s - best.at_s > LONG_S or not _comparable(best.baseline, now) or _above(best.baseline, now):
        return LoadTrial(now_s, now, loads)
    return LoadTrial(now_s, best.baseline, best.loads)


def best_of(
    trial: LoadTrial, now: MeasuredLatency | None, loads: Mapping[str, float], now_s: float
) -> LoadTrial | None:
    """The best measurement after an ended trial of `loads`; None where the trial shows nothing."""
    if now is None or not _enough(trial, now) or not _comparable(trial.baseline, now):
        return None
    return LoadTrial(now_s, now, loads) if now.p95_ms <= trial.baseline.p95_ms else trial


def _above(previous: MeasuredLatency, now: MeasuredLatency) -> bool:
    error = ERROR * sqrt(1 / previous.requests + 1 / now.requests)
    return now.p95_ms > previous.p95_ms * (1 + max(WORSE, SURE * error))


def _enough(trial: LoadTrial, now: MeasuredLatency) -> bool:
    return now.since_s >= trial.at_s + SETTLE_S and now.requests >= FEWEST_REQUESTS


def _comparable(previous: MeasuredLatency, now: MeasuredLatency) -> bool:
    return previous.requests >= FEWEST_REQUESTS and abs(now.rate_per_s / previous.rate_per_s - 1) <= COMPARABLE
