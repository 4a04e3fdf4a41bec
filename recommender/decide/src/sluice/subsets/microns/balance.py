"""Optimal workload distribution (Microns, 5.3, equations 7 and 8): loads at which a service's containers are equally
slow.

Equation 8 moves each load along a secant of its own curve, without bounds. It divides by 0 where a curve is flat, which
curves of trees are nearly everywhere, and may step below 0. This module solves for the common latency instead. Curves
rise, so each has one load at a given latency, and the sum of these loads rises with the latency. So bisection of one
bracket around one unknown always ends.

A curve is tilted by beta ln(load), so that among equally slow containers, as on a flat part, none gets all calls. At
the paper's beta of 0.1 a load e times as high may cost 10 % of latency, which is the error of a latency model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import BEYOND, Curves

# The part of a service's calls that is spread evenly over its containers, whatever their latency. It shows when a slow
# container is fast again. It is too small to change a 95th or 99th percentile.
TRICKLE = 0.005


@dataclass(frozen=True, eq=False)
class Balance:
    """load: (n,) calls per second. apart: the mean difference of the used containers' latencies from their mean,
    relative to it (eq. 7 with absolute values: signed ones add up to 0). fits: whether the capacities suffice for all
    calls."""

    load: Floats
    apart: float
    fits: bool


def balance(
    curves: Curves, total: float, capacity: Floats, z: float, beta: float = 0.1, fixed: Floats | None = None
) -> Balance:
    """Loads that add up to `total`, none above `capacity`, (n,). z: the percentile's place on the normal distribution.
    fixed: (n,) the part of the loads that nothing can move; no load is below it.

    Where the capacities do not suffice, each container gets more than its capacity, in proportion to it.
    """
    count = len(capacity)
    if total <= 0:
        return Balance(np.zeros(count), 0.0, True)
    if capacity.sum() <= total:
        return Balance(capacity * (total / capacity.sum()), 0.0, bool(capacity.sum() == total))
    slow = np.maximum.accumulate(curves.mu + z * curves.sigma, axis=1)
    mean = total / count
    rate = np.maximum(curves.rate_per_s, 1e-3 * mean)
    trickle = np.minimum(TRICKLE * mean, capacity)
    least = np.zeros(count) if fixed is None else np.maximum(fixed - trickle, 0.0)
    tilted = slow + beta * np.log(rate / mean)
    load = _balance(rate, tilted, total - trickle.sum(), capacity - trickle, least, beta, BEYOND)
    load += trickle
    return Balance(load, _apart(curves, load, trickle, capacity, z), True)


def _apart(curves: Curves, load: Floats, trickle: Floats, capacity: Floats, z: float) -> float:
    free = (load > 2 * trickle) & (load < capacity * (1 - 1e-9))
    if not free.any():
        return 0.0
    mu, sigma = curves.at(load)
    latency = np.exp(mu + z * sigma)[free]
    return float(np.abs(latency - latency.mean()).mean() / latency.mean())


@compiled
def _balance(
    rate: Floats, slow: Floats, total: float, capacity: Floats, least: Floats, even: float, beyond: float
) -> Floats:
    count, last = slow.shape[0], slow.shape[1] - 1
    load = np.empty(count)
    low, high = slow[0, 0], slow[0, last]
    for container in range(count):
        low, high = min(low, slow[container, 0]), max(high, slow[container, last])
    # At `low` no container gets a thousandth of its part; at `high` each would take all calls.
    low += even * min(0.0, log(1e-3 * total / count / rate[0]))
    high += (even + beyond) * max(0.0, log(total / rate[last]))
    for _ in range(50):
        middle = (low + high) / 2
        if _loads(rate, slow, middle, capacity, least, even, beyond, load) < total:
            low = middle
        else:
            high = middle
        if high - low < 1e-7:
            break
    _loads(rate, slow, low, capacity, least, even, beyond, load)
    # The rest that the bracket leaves goes to all containers with room, in proportion to their loads.
    for _ in range(20):
        missing = total - load.sum()
        if abs(missing) < 1e-12 * total:
            break
        taking = 0.0
        for container in range(count):
            if missing < 0 or load[container] < capacity[container]:
                taking += load[container] + 1e-12 * total
        for container in range(count):
            if missing < 0 or load[container] < capacity[container]:
                load[container] = min(
                    load[container] + missing * (load[container] + 1e-12 * total) / taking, capacity[container]
                )
    return load


@compiled
def _loads(
    rate: Floats,
    slow: Floats,
    level: float,
    capacity: Floats,
    least: Floats,
    even: float,
    beyond: float,
    load: Floats,
) -> float:
    """Writes the load of each container at which it is as slow as `level`, or `least`. Returns their sum."""
    total_load, last = 0.0, slow.shape[1] - 1
    for container in range(slow.shape[0]):
        line = slow[container]
        if level <= line[0]:
            solution = rate[0] * exp(max((level - line[0]) / even, -60.0))
        elif level >= line[last]:
            solution = rate[last] * exp(min((level - line[last]) / (even + beyond), 60.0))
        else:
            low, high = 0, last
            while high - low > 1:
                middle = (low + high) // 2
                if line[middle] <= level:
                    low = middle
                else:
                    high = middle
            solution = rate[low] + (rate[high] - rate[low]) * (level - line[low]) / (line[high] - line[low])
        load[container] = max(min(solution, capacity[container]), least[container])
        total_load += load[container]
    return total_load
