"""Whole numbers with a given sum: largest remainder within bounds."""

from __future__ import annotations

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.problem import Problem


def bounded(wanted: Floats, least: Ints, most: Ints, total: int) -> Ints:
    """Whole numbers in proportion to `wanted`, (n,), each within [least, most], that add up to `total`.

    What the bounds take away or add is spread over the others in proportion. Among equal remainders the earlier one
    wins. `total` is clipped to the sums of the bounds. Worked: (3, 1) of 10 within (1, 5): (5, 5).
    """
    total = int(min(max(total, least.sum()), most.sum()))
    highest = float(wanted.max(initial=0.0))
    exact = _scaled(np.maximum(wanted, 1e-12 * highest) if highest > 0 else np.ones(len(wanted)), least, most, total)
    quotas = np.clip(np.floor(exact + 1e-9).astype(np.int64), least, most)
    remainder = exact - quotas
    while (left := total - int(quotas.sum())) != 0:
        room = quotas < most if left > 0 else quotas > least
        order = np.argsort(-remainder if left > 0 else remainder, kind="stable")
        chosen = order[room[order]][: abs(left)]
        step = 1 if left > 0 else -1
        quotas[chosen] += step
        remainder[chosen] -= step
    return quotas


@compiled
def _scaled(wanted: Floats, least: Ints, most: Ints, total: int) -> Floats:
    """clip(factor * wanted, least, most) with the factor that gives the sum `total`, by bisection on a log scale."""
    scaled = np.empty(len(wanted))
    low, high = np.inf, 0.0
    for index in range(len(wanted)):
        low, high = min(low, least[index] / wanted[index]), max(high, most[index] / wanted[index])
    low = max(low, 1e-15 * high)
    for _ in range(100):
        middle = np.sqrt(low * high)
        added = 0.0
        for index in range(len(wanted)):
            scaled[index] = min(max(middle * wanted[index], least[index]), most[index])
            added += scaled[index]
        if abs(added - total) < 1e-9 * total or high <= low * (1 + 1e-14):
            break
        if added < total:
            low = middle
        else:
            high = middle
    return scaled


def first_quotas(problem: Problem) -> Ints:
    """Iteration 0 of Algorithm 3, (E,): in proportion to upstream containers, within each pair's bounds."""
    pairs = problem.pairs
    return bounded(
        np.array([float(len(pair.most)) for pair in pairs]),
        np.array([pair.fewest for pair in pairs]),
        np.array([pair.all for pair in pairs]),
        problem.quota,
    )
