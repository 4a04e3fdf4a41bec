"""The objective that a session minimizes: a linear combination of metrics, under SLOs; and its value with an
interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.tuning.objective.block import QUANTILES, Array, Block, Metric, counts_of, figures

# Bootstrap samples: the 0.025 and 0.975 quantiles of 400 are their 10th values from either end.
SAMPLES = 400


@dataclass(frozen=True)
class TuningSlo:
    """A limit on a metric. For goodput it is a lower limit, for all others an upper one."""

    metric: Metric
    limit: float

    def excess(self, value: float) -> float:
        """The share by which the value exceeds the limit; 0: within it. Worked: 600 ms of 500: 0.2; 80/s of 100:
        0.2."""
        beyond = self.limit - value if self.metric is Metric.GOODPUT else value - self.limit
        return max(beyond, 0.0) / self.limit if self.limit else (0.0 if beyond <= 0 else math.inf)


@dataclass(frozen=True)
class Objective:
    """Smaller values are better. A metric of which more is better, as goodput, has a negative weight.

    weights       per unit of the metric: {P95: 1, ERRORS: 1000} makes 1 % of errors as bad as 10 ms
    threshold_ms  the threshold of goodput; None: every success counts
    """

    weights: tuple[tuple[Metric, float], ...]
    slos: tuple[TuningSlo, ...] = ()
    threshold_ms: float | None = None

    @property
    def metrics(self) -> frozenset[Metric]:
        return frozenset(metric for metric, _ in self.weights) | {slo.metric for slo in self.slos}


@dataclass(frozen=True)
class StretchValue:
    """The objective over some blocks of a trial.

    value         the objective; NaN where one of its metrics is unknown
    lower, upper  its interval
    figures       the value of each metric that the objective names
    excess        the largest share by which an SLO is exceeded; 0: none is; NaN: unknown
    """

    value: float
    lower: float
    upper: float
    figures: tuple[tuple[Metric, float], ...]
    excess: float


def worth(blocks: Sequence[Block], objective: Objective, confidence: float = 0.95) -> StretchValue:
    """The objective over all blocks, with an interval by the bootstrap over blocks (Efron 1979). The same blocks give
    the same interval.

    It draws blocks, not requests. Requests that queue behind each other are alike, so a quantile's binomial interval
    over requests is too narrow. So a block must be longer than a queue lasts. With fewer than five blocks the interval
    is unknown (-inf to inf).
    """
    counts, all_blocks = counts_of(blocks), np.ones((1, len(blocks)))
    by_metric = figures(counts, all_blocks, objective.threshold_ms)
    values = {metric: float(by_metric[metric][0]) for metric in Metric if metric in objective.metrics}
    value = sum(weight * values[metric] for metric, weight in objective.weights)
    lower, upper = -math.inf, math.inf
    if len(blocks) >= 5 and math.isfinite(value):
        generator = np.random.default_rng(len(blocks))
        drawn = generator.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), SAMPLES).astype(float)
        samples = _combined(figures(counts, drawn, objective.threshold_ms), objective)
        lower, upper = (float(np.nanquantile(samples, level)) for level in ((1 - confidence) / 2, (1 + confidence) / 2))
    excess = max((slo.excess(values[slo.metric]) for slo in objective.slos), default=0.0)
    if any(math.isnan(values[slo.metric]) for slo in objective.slos):
        excess = math.nan
    return StretchValue(value, lower, upper, tuple(values.items()), excess)


def _combined(by_metric: dict[Metric, Array], objective: Objective) -> Array:
    return np.asarray(
        np.sum([weight * by_metric[metric] for metric, weight in objective.weights], axis=0), dtype=np.float64
    )


def least_completions(objective: Objective, confidence_z: float = 1.96) -> int:
    """The number of completions from which on each quantile of the objective and its SLOs has an interval.

    The upper end of the binomial interval is the order statistic n q + z sqrt(n q (1 - q)). It must be one of the n, so
    n >= z^2 q / (1 - q). Worked, z = 1.96: 4 for the median, 73 for p95, 381 for p99.
    """
    shares = [QUANTILES[metric] for metric in objective.metrics if metric in QUANTILES]
    return max((math.ceil(confidence_z**2 * share / (1 - share)) for share in shares), default=1)
