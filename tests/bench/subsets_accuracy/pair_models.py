"""Models of a pair's latency that Microns is compared with (7.3), each as it describes it: from the mean load and the
mean contention of the downstream containers, whatever lies between them.

Each is fitted to the windows of one pair: features, (n, 4), as of ``PairSeen``; mean and 95th percentile, (n,) ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: From features, (4,), to the 95th percentile in ms.
Model = Callable[[Floats], float]
#: A latency is never below this, whatever a line says: a tenth of the least one that was seen.
LEAST = 0.1


class Fit(Protocol):
    def __call__(self, features: Floats, mean_ms: Floats, p95_ms: Floats) -> Model: ...


def parslo(features: Floats, mean_ms: Floats, p95_ms: Floats, nearest: int = 4) -> Model:
    """A profile of "the latency distribution of microservice pairs across varying workloads": the mean of the nearest
    windows by load and contention, each in units of its spread. Told contention, which its own profile has not, as the
    mean of the hosts differs between deployments."""
    spread = np.maximum(features.std(axis=0), 1e-9)

    def model(asked: Floats) -> float:
        away = (((features - asked) / spread) ** 2).sum(axis=1)
        chosen = np.argsort(away, kind="stable")[:nearest]
        weight = 1.0 / (away[chosen] + 0.1)
        return float(p95_ms[chosen] @ weight / weight.sum())

    return model


def erms(features: Floats, mean_ms: Floats, p95_ms: Floats) -> Model:
    """A "piece-wise linear function" of load, below and above a knee, with slopes that are linear in contention (Erms,
    4.1). The knee is the one that fits best."""
    return _piecewise(features, p95_ms)


def derm(features: Floats, mean_ms: Floats, p95_ms: Floats) -> Model:
    """An "exponential distribution": its mean is a piece-wise linear function as of Erms, and the percentile p lies at
    -ln(1 - p) times it. At 95 %: 3.0 times."""
    mean = _piecewise(features, mean_ms)
    return lambda asked: -float(np.log(1.0 - 0.95)) * mean(asked)


#: By name.
MODELS: dict[str, Fit] = {"Parslo": parslo, "Erms": erms, "Derm": derm}


def _piecewise(features: Floats, values: Floats) -> Model:
    rate, least = features[:, 0], LEAST * float(values.min())
    best: tuple[float, float, list[Floats]] | None = None
    for knee in np.quantile(rate, (0.4, 0.5, 0.6, 0.7)):
        sides = [rate <= knee, rate > knee]
        fits = [_line(features[side], values[side]) for side in sides]
        off = sum(
            float(((_rows(features[side]) @ fit / values[side] - 1) ** 2).sum())
            for side, fit in zip(sides, fits, strict=True)
        )
        if best is None or off < best[0]:
            best = off, float(knee), fits
    assert best is not None
    _, knee, (low, high) = best
    return lambda asked: max(float((_rows(asked[None, :]) @ (low if asked[0] <= knee else high))[0]), least)


def _rows(features: Floats) -> Floats:
    """1, load, and load times each utilization: a line whose slope is linear in contention."""
    rate = features[:, :1]
    return np.hstack([np.ones_like(rate), rate, rate * features[:, 1:]])


def _line(features: Floats, values: Floats) -> Floats:
    """By least squares of relative errors, which is what models are judged by."""
    return np.asarray(np.linalg.lstsq(_rows(features) / values[:, None], np.ones(len(values)), rcond=None)[0])
