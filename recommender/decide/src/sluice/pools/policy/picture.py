"""A picture of the belief for people, as SCG draws its own: the scatter, the curve through it with a band, and the
knee.

A request draws it; a period has no use for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import LEAST_COMPLETIONS, LEAST_SECONDS, Evidence, Level
from sluice.pools.estimate.belief.family import SIZES
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.state import Learnt
from sluice.pools.policy.worth import outlook

# Standard deviations of a normal distribution to either side: the band holds 80 % of the belief.
BAND = 1.28


@dataclass(frozen=True)
class CurvePoint:
    """Seconds at about one concurrency, of one instance: completions per second on average.

    cores: their CPU limit. full: whether the pool was full. A pool that was not full completes less than the curve,
    which is a full pool's, at the same concurrency. seconds: older ones have less weight.
    """

    concurrency: float
    completions_per_s: float
    seconds: float
    full: bool
    cores: float


@dataclass(frozen=True)
class Believed:
    """Completions per second of an instance whose pool of `size` is full: the mean, and the band around it."""

    size: int
    per_s: float
    lower_per_s: float
    upper_per_s: float


@dataclass(frozen=True)
class Picture:
    """points: ascending in concurrency; curve: ascending in size, on `cores`.

    knee..upper: the sizes that complete at least 99 % of the best one's completions. The curve ends before them where
    they are more than twice the largest concurrency of the evidence. loss: expected loss of the size in force, as a
    part of the best one's completions, 0..1; None where no single size is in force. seconds: of evidence on `cores`.
    """

    points: tuple[CurvePoint, ...]
    curve: tuple[Believed, ...]
    knee: int
    upper: int
    best: int
    loss: float | None
    seconds: float
    cores: float


def draw(learnt: Learnt, size: int | None, cores: float | None = None) -> Picture | None:
    """The picture of the belief; None where there is no evidence yet. size: in force, None where there is no single
    size. cores: the CPU limit for the belief, where `learnt` does not hold it."""
    kept = learnt.kept if cores is None else believed(None, learnt.evidence, cores)
    if kept is None or kept.evidence != learnt.evidence:
        return None
    points = _points(learnt.evidence)
    largest = max([point.concurrency for point in points] + [float(size or 1)])
    outlook_now = outlook(kept.now, size or 1)
    return Picture(
        points=points,
        curve=_curve(kept.now, _sizes(2 * largest, size)),
        knee=outlook_now.lower,
        upper=outlook_now.upper,
        best=outlook_now.best,
        loss=None if size is None else outlook_now.loss,
        seconds=learnt.evidence.seconds_on(kept.cores),
        cores=kept.cores,
    )


def draw_on(learnt: Learnt, size: int | None, cores: float) -> tuple[Believed, ...]:
    """The curve of the belief on another CPU limit, over the sizes that `draw` uses; () where there is no evidence."""
    if not learnt.evidence.levels:
        return ()
    now = believed(None, learnt.evidence, cores).now
    largest = max([point.concurrency for point in _points(learnt.evidence)] + [float(size or 1)])
    return _curve(now, _sizes(2 * largest, size))


def _points(evidence: Evidence) -> tuple[CurvePoint, ...]:
    """The levels that count, as in `Evidence.rows`."""
    levels = [level for level in evidence.levels if level.seconds >= LEAST_SECONDS]
    points = [
        _curve_point(level) for level in levels if level.completions >= LEAST_COMPLETIONS and level.in_flight_s > 0
    ]
    return tuple(sorted(points, key=lambda point: (point.concurrency, point.cores, point.full)))


def _sizes(most: float, current: int | None) -> list[int]:
    """The sizes of the grid up to `most`, and the one in force as far as the shapes reach."""
    sizes = {int(size) for size in SIZES if size <= most}
    return sorted(sizes | ({current} if current is not None and current <= SIZES[-1] else set()))


def _curve_point(level: Level) -> CurvePoint:
    return CurvePoint(
        level.in_flight_s / level.seconds, level.completions / level.seconds, level.seconds, level.full, level.cores
    )


def _curve(now: Posterior, sizes: list[int]) -> tuple[Believed, ...]:
    """The mean and the band, from ln X, in which the belief is normal. All sizes at once: a prediction computes the
    residuals of the evidence, which are the same for each."""
    mean, variance = now.predict_each(np.array(sizes, dtype=np.float64), np.ones(len(sizes), dtype=bool))
    band = BAND * np.sqrt(variance)
    columns = (np.exp(mean), np.exp(mean - band), np.exp(mean + band))
    return tuple(Believed(*of) for of in zip(sizes, *(column.tolist() for column in columns), strict=True))
