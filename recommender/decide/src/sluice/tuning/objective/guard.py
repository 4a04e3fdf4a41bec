"""The SLO guard: ends a trial at once when it does harm that noise does not explain."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sluice.tuning.objective.block import QUANTILES, Block, Metric
from sluice.tuning.objective.objective import Objective, TuningSlo, worth

# The probability that a configuration which just keeps an SLO trips the guard, at one check.
NOISE = 0.001
# Counts do not show the noise of a mean, goodput or CPU. For these: the factor beyond the limit that trips the guard,
# and the least number of requests.
FAR, LEAST = 2.0, 20
# How long no request completes before the guard trips, in seconds. No latency shows this case.
SILENT_S = 5.0


def tripped(recent: Sequence[Block], objective: Objective) -> str | None:
    """Why the trial must be rolled back; None: it need not be. `recent`: its newest 5 to 10 s, under load.

    A quantile's SLO "p99 <= 500 ms" allows 1 % of requests above 500 ms. The guard trips when a service with exactly 1
    % would have as many above with a probability under 0.001. Worked: of 100 requests 5 above: 0.0034, no; 6: 0.0005,
    trips. The share of errors works alike.
    """
    for slo in objective.slos:
        why = _harm(recent, objective, slo)
        if why is not None:
            return why
    seconds = sum(block.seconds for block in recent)
    if seconds >= SILENT_S and not any(block.completions for block in recent):
        return f"no request completed in {seconds:g} s"
    return None


def _harm(recent: Sequence[Block], objective: Objective, slo: TuningSlo) -> str | None:
    done = sum(block.completions for block in recent)
    errors = sum(block.errors for block in recent)
    if slo.metric in QUANTILES:
        limit = sum(count for block in recent for index, count in block.latencies.items() if _above(index, slo.limit))
        return _too_many(limit, done, 1 - QUANTILES[slo.metric], f"above {slo.limit:g} ms")
    if slo.metric is Metric.ERRORS:
        return _too_many(errors, done + errors, slo.limit, "errors")
    if done + errors < LEAST and slo.metric is not Metric.GOODPUT:
        return None
    worst = dict(worth(recent, Objective(((slo.metric, 1.0),), threshold_ms=objective.threshold_ms)).figures)[
        slo.metric
    ]
    if slo.metric is Metric.GOODPUT:
        beyond = sum(block.seconds for block in recent) >= SILENT_S and worst * FAR < slo.limit
    else:
        beyond = not math.isnan(worst) and worst > FAR * slo.limit
    return f"{slo.metric.value} is {worst:.4g}, its limit is {slo.limit:g}" if beyond else None


def _above(index: int, limit_ms: float) -> bool:
    """Whether a latency index lies wholly above the limit. An index that contains the limit does not count as above."""
    return bool(2 ** (index / 64) / 1e6 >= limit_ms)


def _too_many(bad: int, of: int, allowed: float, what: str) -> str | None:
    from scipy.stats import binom

    if of == 0 or bad <= allowed * of:
        return None
    if float(binom.sf(bad - 1, of, allowed)) >= NOISE:
        return None
    return f"{bad} of {of} requests {what}; the SLO allows {allowed:.3g} of them"
