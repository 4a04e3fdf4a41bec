"""What became of a change of weights: measured beside before, and taken back where it is worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

#: A change of weights shows in windows that begin so long after it: clients take it up, requests that ran end.
SETTLE_S = 10.0
#: So long it may take until enough was measured; then nobody knows, and the next change may come.
EXPIRES_S = 240.0
#: It is worse where the percentile is above what it was by so much, and by more than SURE standard errors.
WORSE, SURE = 0.05, 3.0
#: ln(p95) of n requests is off by 1.1 / sqrt(n): sqrt(0.95 x 0.05 / n) / 0.103 x sigma, of a log-normal one with sigma
#: 0.5. Of 600 requests: 0.045.
ERROR = 1.1
#: Loads that differ by more than this, relative to before, are not compared.
COMPARABLE = 0.2
FEWEST_REQUESTS = 100
#: What was best so long ago is no measure any more.
LONG_S = 1800.0


@dataclass(frozen=True)
class Measured:
    """The 95th percentile of a service's requests, over all of its containers, in ms; of `requests` in the windows from
    since_s until until_s (Unix time)."""

    p95_ms: float
    requests: int
    since_s: float
    until_s: float

    @property
    def rate_per_s(self) -> float:
        return self.requests / max(self.until_s - self.since_s, 1.0)


@dataclass(frozen=True, eq=False)
class Trial:
    """A change of a service's loads that is being tried since at_s. before, loads: what was measured, and with which
    loads (by container, relative to their mean), when it was best of late; else before the change."""

    at_s: float
    before: Measured
    loads: Mapping[str, float]


def ended(trial: Trial, now: Measured | None, now_s: float) -> bool:
    """Whether something can be said of it, or never will be."""
    return now_s - trial.at_s >= EXPIRES_S or (now is not None and _enough(trial, now))


def worse(trial: Trial, now: Measured | None) -> bool:
    """Of one that ended. 600 requests before with p95 40 ms and as many after: worse from 40 x 1.19 = 47.6 ms on."""
    if now is None or not _enough(trial, now) or not _comparable(trial.before, now):
        return False
    return _above(trial.before, now)


def begun(best: Trial | None, now: Measured, loads: Mapping[str, float], now_s: float) -> Trial:
    """A change from `loads`, under which `now` is measured. best: when it was best. Many changes that each are a bit
    worse are so compared with before them all; what got worse without a change of ours is not."""
    if best is None or now_s - best.at_s > LONG_S or not _comparable(best.before, now) or _above(best.before, now):
        return Trial(now_s, now, loads)
    return Trial(now_s, best.before, best.loads)


def best_of(trial: Trial, now: Measured | None, loads: Mapping[str, float], now_s: float) -> Trial | None:
    """When it was best, after a trial of `loads` that ended; None where nothing can be said."""
    if now is None or not _enough(trial, now) or not _comparable(trial.before, now):
        return None
    return Trial(now_s, now, loads) if now.p95_ms <= trial.before.p95_ms else trial


def _above(before: Measured, now: Measured) -> bool:
    error = ERROR * sqrt(1 / before.requests + 1 / now.requests)
    return now.p95_ms > before.p95_ms * (1 + max(WORSE, SURE * error))


def _enough(trial: Trial, now: Measured) -> bool:
    return now.since_s >= trial.at_s + SETTLE_S and now.requests >= FEWEST_REQUESTS


def _comparable(before: Measured, now: Measured) -> bool:
    return before.requests >= FEWEST_REQUESTS and abs(now.rate_per_s / before.rate_per_s - 1) <= COMPARABLE
