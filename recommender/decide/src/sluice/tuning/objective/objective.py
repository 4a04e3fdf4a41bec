"""What a session makes small: a linear combination of figures, under SLOs; and what it is worth, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.tuning.objective.block import QUANTILES, Array, Block, Metric, counts_of, figures

# Bootstrap samples: the 0.025 and 0.975 quantiles of 400 are their 10th values from either end.
SAMPLES = 400


@dataclass(frozen=True)
class Slo:
    """A figure that a configuration has to keep. Goodput is kept from below, all others from above."""

    metric: Metric
    limit: float

    def excess(self, value: float) -> float:
        """By what share the limit is passed; 0: it is kept. Worked: 600 ms of 500: 0.2; 80/s of 100: 0.2."""
        beyond = self.limit - value if self.metric is Metric.GOODPUT else value - self.limit
        return max(beyond, 0.0) / self.limit if self.limit else (0.0 if beyond <= 0 else math.inf)


@dataclass(frozen=True)
class Objective:
    """Less is better: goodput has a negative weight, as all of which more is wanted.

    weights       per unit of the metric: {P95: 1, ERRORS: 1000} makes 1 % of errors as bad as 10 ms
    threshold_ms  of goodput; None: every success counts
    """

    weights: tuple[tuple[Metric, float], ...]
    slos: tuple[Slo, ...] = ()
    threshold_ms: float | None = None

    @property
    def metrics(self) -> frozenset[Metric]:
        return frozenset(metric for metric, _ in self.weights) | {slo.metric for slo in self.slos}


@dataclass(frozen=True)
class Worth:
    """Of a stretch of a trial.

    value         the objective; NaN where one of its figures is not known
    lower, upper  its interval
    figures       of every metric that the objective names
    excess        the largest share by which an SLO is passed; 0: all are kept; NaN: not known
    """

    value: float
    lower: float
    upper: float
    figures: tuple[tuple[Metric, float], ...]
    excess: float


def worth(blocks: Sequence[Block], objective: Objective, confidence: float = 0.95) -> Worth:
    """The objective over all blocks, with an interval by the bootstrap over blocks (Efron 1979), the same each time.

    Blocks are drawn, not requests: requests that queue behind each other are alike, and a quantile's binomial interval
    over them is too narrow. So a block has to be longer than a queue lives; and of under five, the interval is unknown
    (-inf to inf).
    """
    counts, whole = counts_of(blocks), np.ones((1, len(blocks)))
    found = figures(counts, whole, objective.threshold_ms)
    values = {metric: float(found[metric][0]) for metric in Metric if metric in objective.metrics}
    value = sum(weight * values[metric] for metric, weight in objective.weights)
    lower, upper = -math.inf, math.inf
    if len(blocks) >= 5 and math.isfinite(value):
        generator = np.random.default_rng(len(blocks))
        drawn = generator.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), SAMPLES).astype(float)
        samples = _combined(figures(counts, drawn, objective.threshold_ms), objective)
        lower, upper = (float(np.nanquantile(samples, each)) for each in ((1 - confidence) / 2, (1 + confidence) / 2))
    excess = max((slo.excess(values[slo.metric]) for slo in objective.slos), default=0.0)
    if any(math.isnan(values[slo.metric]) for slo in objective.slos):
        excess = math.nan
    return Worth(value, lower, upper, tuple(values.items()), excess)


def _combined(found: dict[Metric, Array], objective: Objective) -> Array:
    return np.asarray(
        np.sum([weight * found[metric] for metric, weight in objective.weights], axis=0), dtype=np.float64
    )


def least_completions(objective: Objective, confidence_z: float = 1.96) -> int:
    """Completions from which on each quantile of the objective and its SLOs has an interval at all.

    The upper end of the binomial interval is the order statistic n q + z sqrt(n q (1 - q)), which must be one of the n:
    n >= z^2 q / (1 - q). Worked, z = 1.96: 4 for the median, 73 for p95, 381 for p99.
    """
    shares = [QUANTILES[metric] for metric in objective.metrics if metric in QUANTILES]
    return max((math.ceil(confidence_z**2 * share / (1 - share)) for share in shares), default=1)
