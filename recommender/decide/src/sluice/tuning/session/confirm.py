"""Whether the winner is better than the default: both are measured again, in turn, and compared with an interval.

The best of many noisy values is too good (the winner's curse), and an application drifts during tuning. So neither
first value counts. Both are measured again in the order D W, W D, D W, ... In this order a linear drift cancels in the
mean of two pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Gain:
    """The share by which the winner's value is below the default's, with a 95 % interval, over so many pairs."""

    share: float
    lower: float
    upper: float
    pairs: int


def is_default(place: int) -> bool:
    """Whether the confirming trial at this place of the order D W W D D W W D ... is the default's."""
    return place % 4 in (0, 3)


def gain(pairs: Sequence[tuple[float, float]]) -> Gain | None:
    """The gain from (default, winner) values; None for fewer than two pairs, or where the default's mean is 0.

    Where all values are positive, it is Student's interval of the mean of ln(winner / default): the share is 1 - exp of
    it. Worked: (100, 80), (110, 88), (90, 72): each ratio 0.8, so 20 %, and 20 to 20 %. (100, 80), (100, 90): ln ratios
    -0.2231 and -0.1054, mean -0.1643, half width 12.71 x 0.0589 = 0.7482: 15.1 %, -79 to 60 %. Otherwise it is the
    interval of the differences, over the mean of the default's values.
    """
    if len(pairs) < 2:
        return None
    values = np.array(pairs, dtype=np.float64)
    default, winner = values[:, 0], values[:, 1]
    if (values > 0).all():
        mean, half = _mean(np.log(winner / default))
        return Gain(-math.expm1(mean), -math.expm1(mean + half), -math.expm1(mean - half), len(pairs))
    scale = abs(float(default.mean()))
    if scale == 0:
        return None
    mean, half = _mean((default - winner) / scale)
    return Gain(mean, mean - half, mean + half, len(pairs))


def _mean(values: np.ndarray) -> tuple[float, float]:
    """Mean, and half of the width of its 95 % interval."""
    from scipy.stats import t

    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(t.ppf(0.975, len(values) - 1)) * error
