"""Whole numbers that add up: the largest remainder within bounds."""

from __future__ import annotations

import numpy as np

from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.problem import Problem


def bounded(wanted: Floats, least: Ints, most: Ints, total: int) -> Ints:
    """Whole numbers in proportion to `wanted`, (n,), each within [least, most], that add up to `total`.

    What bounds take away or give is spread over the others in proportion. Of equal remainders the earlier one counts.
    `total` is brought within the sums of the bounds. (3, 1) of 10 within (1, 5): (5, 5).
    """
    total = int(min(max(total, least.sum()), most.sum()))
    positive = np.maximum(wanted, 1e-12 * max(float(wanted.max(initial=0.0)), 1e-12))
    exact = _scaled(positive, least, most, total)
    found = np.floor(exact + 1e-9).astype(np.int64)
    found = np.clip(found, least, most)
    remainder = exact - found
    while (left := total - int(found.sum())) != 0:
        room = found < most if left > 0 else found > least
        order = np.argsort(-remainder if left > 0 else remainder, kind="stable")
        chosen = order[room[order]][: abs(left)]
        step = 1 if left > 0 else -1
        found[chosen] += step
        remainder[chosen] -= step
    return found


def _scaled(wanted: Floats, least: Ints, most: Ints, total: int) -> Floats:
    """clip(factor * wanted, least, most) with the factor for which it adds up, found by halving on a log scale."""
    low = float(np.log(np.maximum(least, 1) / wanted).min()) - 1
    high = float(np.log(np.maximum(most, 1) / wanted).max()) + 1
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(np.exp(middle) * wanted, least, most).sum() < total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(np.exp(high) * wanted, least, most))


def first_quotas(problem: Problem) -> Ints:
    """Iteration 0 of Algorithm 3, (E,): in proportion to the number of upstream containers, within each pair's
    bounds."""
    pairs = problem.pairs
    return bounded(
        np.array([float(len(pair.most)) for pair in pairs]),
        np.array([pair.fewest for pair in pairs]),
        np.array([pair.all for pair in pairs]),
        problem.quota,
    )
