"""Windows of a made-up service, for agents."""

from __future__ import annotations

import numpy as np

from bench.dqn.measure import ServiceWindows


def of_service(
    size: int, seconds: int, start_s: int, random: np.random.Generator, best: float = 12.0, most: float = 80.0
) -> ServiceWindows:
    """A full pool of that size in windows of 100 ms: throughput rises to `best` and falls then; 24 in the system."""
    n = 10 * seconds
    share = size / best if size < best else (best / size) ** 0.7
    completions = random.poisson(most * share * 0.1, n).astype(float)
    start_ms = (start_s * 1000 + 100 * np.arange(n)).astype(np.int64)
    return ServiceWindows(
        start_ms, np.full(n, float(size)), np.full(n, 24.0), completions, np.full(n, float(size)), 0.1
    )


def chained(parts: list[ServiceWindows]) -> ServiceWindows:
    return ServiceWindows(
        np.concatenate([part.start_ms for part in parts]),
        np.concatenate([part.in_flight for part in parts]),
        np.concatenate([part.in_system for part in parts]),
        np.concatenate([part.completions for part in parts]),
        np.concatenate([part.size for part in parts]),
        length_s=0.1,
    )
