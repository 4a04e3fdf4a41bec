"""The result of an estimator, and the one method that an estimator has."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.samples import Floats, Samples


@dataclass(frozen=True)
class Estimate:
    """The optimum of one pool per instance, before any guard.

    target and bounds are set in state PROVIDED, and the target of a step of growth in UNSATURATED.
    lower_bound..upper_bound are the sizes that the evidence does not distinguish from the best; confidence is 0..1, and
    0 without a target. The curve and the fit are evidence for people: `fitted_per_s` has the curve's shape, or is None.
    """

    state: State
    reasons: tuple[Reason, ...]
    target: int | None = None
    lower_bound: int | None = None
    upper_bound: int | None = None
    confidence: float = 0.0
    curve: Curve | None = None
    knee: float | None = None
    polynomial_degree: int = 0
    fitted_per_s: Floats | None = field(default=None, repr=False)
    pool_limited: bool = False
    """True when the pool was full so often that it hides what lies beyond its size."""
    compares: bool = False
    """True where the model serves comparison, so nobody is to apply its size."""
    unpaid: bool = False
    """True for the smaller size that a pool goes back to after a step of growth that did not pay (`growth.py`)."""


OWN_SPANS = Reason("OWN_SPANS", "no caller's spans: the pool's own spans judge, which lack the wait for the pool")


def whole_size(concurrency: float) -> int:
    """The pool whose mean in flight can reach `concurrency`: 11.6 needs 12."""
    return max(1, math.ceil(concurrency))


class Estimator(Protocol):
    """Pure: the same samples give the same estimate; no clock, no I/O, no memory."""

    name: str

    def estimate(self, samples: Samples | None) -> Estimate:
        """The estimate for one pool; None stands for "nothing was measured", never for zeros."""
        ...
