"""Each search's share of the oracle's gain, counted over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.tuning.simulated.searches import Found, Search

DDS = "dds"


def share(default_ms: float, found_ms: float, oracle_ms: float) -> float:
    """Worked: 100 ms by default, 80 found, 50 the oracle's: 0.4. Negative where found is worse than the default."""
    return (default_ms - found_ms) / (default_ms - oracle_ms)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of the width of its 95 % interval (Student's t); NaN of one value."""
    from scipy.stats import t

    if len(values) < 2:
        return float(np.mean(values)), float("nan")
    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)), float(half)


@dataclass(frozen=True)
class Shares:
    """What one search came to, by seed. share, seen: of the oracle's gain, by what is recommended and by the trial with
    the least measured value. below: results with a p95 below the oracle's."""

    found: Mapping[int, Found]
    share: Mapping[int, float]
    seen: Mapping[int, float]
    below: int

    def mean(self, name: str) -> float:
        return float(np.mean([getattr(found, name) for found in self.found.values()]))


Counted = Mapping[Search, Shares]


def counted(kept: Mapping[int, Mapping[str, Any]]) -> dict[Search, Shares]:
    """Of what `run.made` gives, by seed."""
    by_search: dict[Search, dict[int, Found]] = {}
    for seed, result in kept.items():
        for search, found in result["found"]:
            by_search.setdefault(Search(*search), {})[seed] = Found(**found)

    def of(seed: int, found_ms: float) -> float:
        return share(kept[seed]["default_ms"], found_ms, kept[seed]["oracle_ms"])

    return {
        search: Shares(
            founds,
            {seed: of(seed, found.found_ms) for seed, found in founds.items()},
            {seed: of(seed, found.seen_ms) for seed, found in founds.items()},
            sum(min(found.found_ms, found.seen_ms) < kept[seed]["oracle_ms"] for seed, found in founds.items()),
        )
        for search, founds in by_search.items()
    }


def beside(row: Shares, base: Shares) -> list[float]:
    """Differences of shares, on the seeds that both have."""
    return [share - base.share[seed] for seed, share in row.share.items() if seed in base.share]


def place(rows: Counted, name: str) -> tuple[int, float]:
    """DDS's place by its median, 1 the best, and the mean over seeds of its rank; equal ones have the mean rank.

    name: `share` or `seen`. All rows have the same seeds.
    """
    from scipy.stats import rankdata

    values = np.array([list(getattr(row, name).values()) for row in rows.values()])
    at = [search.method for search in rows].index(DDS)
    medians = np.median(values, axis=1)
    return 1 + int((medians > medians[at]).sum()), float(rankdata(-values, axis=0)[at].mean())
