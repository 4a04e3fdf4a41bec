"""What is seen of pairs in a window, in the form that models of pairs learn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.mesh.application import Host
from testbed.mesh.memory import BINS, FINEST, STEP
from testbed.mesh.samples import Window, measured

MIDDLES_MS = np.exp(FINEST + STEP * (np.arange(BINS) + 0.5))
FEWEST = 300
"""Visits of a pair in a window: with as many its 95th percentile is known to some 5 %."""
PERCENTILE = 0.95

Names = tuple[str, str]


@dataclass(frozen=True)
class PairSeen:
    """Of a pair in a window: what models that know means of containers alone are told, and what they are to say.

    features: (4,), mean calls per second of a downstream container, and the mean CPU, memory bandwidth and network
    utilization of their hosts. mean_ms, p95_ms: of the own times of the visits that came over the pair.
    """

    features: np.ndarray
    mean_ms: float
    p95_ms: float


def pairs_seen(window: Window) -> dict[Names, PairSeen]:
    """Pairs with enough visits."""
    run = window.run
    hosts = measured(run, window.before, window.after)
    seconds = window.after.second - window.before.second
    visits = window.after.tallies["visits"] - window.before.tallies["visits"]
    found = {}
    for (up, down), counts in zip(run.graph.pairs, window.pairs, strict=True):
        total = int(counts.sum())
        if total < FEWEST:
            continue
        members = run.fleet.live[down]
        on = [hosts[run.fleet.hosts[run.fleet.host[each]]] for each in members]
        features = means(float(np.mean(visits[members])) / seconds, on)
        at = int(np.searchsorted(np.cumsum(counts), PERCENTILE * total))
        mean = float(counts @ MIDDLES_MS / total)
        names = run.fleet.services
        found[names[up], names[down]] = PairSeen(features, mean, float(MIDDLES_MS[at]))
    return found


def means(rate_per_s: float, hosts: list[Host]) -> np.ndarray:
    """(4,), as of ``PairSeen``."""
    return np.array([rate_per_s, *np.mean([[each.cpu, each.memory_bandwidth, each.network] for each in hosts], axis=0)])
