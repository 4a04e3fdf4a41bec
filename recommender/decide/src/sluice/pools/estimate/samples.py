"""The input of an estimator: the pairs <Q_n, GP_n> of Sora 3.2, one per bucket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def is_full(concurrency: Floats, size: Floats) -> NDArray[np.bool_]:
    """Whether a pool was full in each bucket, shape (n,) each; False where the size is NaN.

    A bucket whose mean is within a tenth of the size (at least half a slot) was full for a part of its 100 ms, and
    counts too. In a closed loop on the simulated shop, with half a slot alone, each estimate was a little smaller than
    the last (10, 9, 8).
    """
    return concurrency >= np.minimum(size - 0.5, 0.9 * size)


@dataclass(frozen=True)
class Samples:
    """Buckets of one pool, per instance of its service; every array has shape (n,), in any order.

    concurrency     time-weighted mean number in flight, > 0
    goodput_per_s   completions per second within the response-time threshold, >= 0
    throughput_per_s  completions per second of the pool's own spans, good or bad, >= 0
    completions     completions in the bucket by the judges' spans, good or bad
    limit           pool size in force during the bucket, NaN where no actuator reported one
    caller_judged   True when the callers' spans judged the goodput, False for the pool's own spans
    start_ms        start of each bucket (Unix ms), None where it is not known, as in a file of pairs
    """

    concurrency: Floats
    goodput_per_s: Floats
    throughput_per_s: Floats
    completions: Floats
    limit: Floats
    instances: int
    caller_judged: bool
    start_ms: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.concurrency)

    def full(self) -> NDArray[np.bool_]:
        """Buckets in which the pool itself was full, shape (n,).

        Callers then queue for the pool, and their response times describe the queue, not the service at this
        concurrency: such a bucket is censored.
        """
        return is_full(self.concurrency, self.limit)

    def take(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Samples:
        """The buckets where `keep`, shape (n,), is True, or those at the indices in it."""
        return Samples(
            self.concurrency[keep],
            self.goodput_per_s[keep],
            self.throughput_per_s[keep],
            self.completions[keep],
            self.limit[keep],
            self.instances,
            self.caller_judged,
            None if self.start_ms is None else self.start_ms[keep],
        )
