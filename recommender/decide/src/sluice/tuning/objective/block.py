"""Measurements of a root operation in a block of time, and the metrics of several blocks together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Metric(Enum):
    """A metric of an objective or an SLO. Latencies are those of successful requests, from the start of their root to
    its end."""

    MEAN = "mean_ms"
    P50 = "p50_ms"
    P95 = "p95_ms"
    P99 = "p99_ms"
    # Requests that succeeded within the objective's threshold, per second.
    GOODPUT = "goodput_per_s"
    # The share of all requests that failed, 0..1.
    ERRORS = "error_share"
    # CPU time per request, failed ones too: of the root's service and of all services that it calls, also indirectly.
    CPU = "cpu_ms"


QUANTILES = {Metric.P50: 0.5, Metric.P95: 0.95, Metric.P99: 0.99}


@dataclass(frozen=True)
class Block:
    """One block of time, about 1 s.

    seconds    its length
    latencies  counts of successful requests by latency index i: 2^(i/64) < ns <= 2^((i+1)/64)
    errors     requests that failed
    cpu_s      CPU time used, in seconds; None where it is not part of the objective, or unknown
    """

    seconds: float
    latencies: Mapping[int, int]
    errors: int = 0
    cpu_s: float | None = None

    @property
    def completions(self) -> int:
        return sum(self.latencies.values())


@dataclass(frozen=True)
class BlockArrays:
    """Blocks as arrays: `latencies` is (blocks, indices) with `edges_ms` (indices,), the upper edge of each index."""

    latencies: Array
    edges_ms: Array
    errors: Array
    seconds: Array
    cpu_s: Array | None


def counts_of(blocks: Sequence[Block]) -> BlockArrays:
    indices = sorted({index for block in blocks for index in block.latencies})
    places = {index: place for place, index in enumerate(indices)}
    latencies = np.zeros((len(blocks), len(indices)))
    for row, block in enumerate(blocks):
        for index, count in block.latencies.items():
            latencies[row, places[index]] += count
    edges_ms = np.array([2 ** ((index + 1) / 64) / 1e6 for index in indices])
    known = all(block.cpu_s is not None for block in blocks)
    return BlockArrays(
        latencies,
        edges_ms,
        np.array([float(block.errors) for block in blocks]),
        np.array([block.seconds for block in blocks]),
        np.array([block.cpu_s or 0.0 for block in blocks]) if known else None,
    )


def figures(counts: BlockArrays, weights: Array, threshold_ms: float | None) -> dict[Metric, Array]:
    """Each metric of weighted sums of the blocks, (samples,); NaN where no request completed, or no measurement exists.

    weights: (samples, blocks), how often each block counts in each sample. One row of ones: all blocks together. A
    quantile is the upper edge of its index. The mean uses the geometric middles of the indices: within 0.6 % of the
    exact mean.
    """
    sums = weights @ counts.latencies
    done = sums.sum(axis=1)
    errors, seconds = weights @ counts.errors, weights @ counts.seconds
    by_metric = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        by_metric[Metric.MEAN] = sums @ (counts.edges_ms * 2 ** (-1 / 128)) / done
        upto = np.cumsum(sums, axis=1)
        for metric, share in QUANTILES.items():
            by_metric[metric] = _quantile(upto, done, counts.edges_ms, share)
        within = counts.edges_ms <= (math.inf if threshold_ms is None else threshold_ms)
        by_metric[Metric.GOODPUT] = sums[:, within].sum(axis=1) / seconds
        by_metric[Metric.ERRORS] = errors / (done + errors)
        cpu_s = np.full(len(weights), np.nan) if counts.cpu_s is None else weights @ counts.cpu_s
        by_metric[Metric.CPU] = 1000 * cpu_s / (done + errors)
    return by_metric


def _quantile(upto: Array, done: Array, edges_ms: Array, share: float) -> Array:
    """The least edge that at least `share` of the completions do not exceed."""
    if not upto.shape[1]:
        return np.full(len(done), np.nan)
    reached = upto >= (share * done - 1e-9)[:, None]
    return np.where(done > 0, edges_ms[reached.argmax(axis=1)], np.nan)
