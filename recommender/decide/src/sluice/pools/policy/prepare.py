"""Does before the first decision what that decision would wait for: `python -m sluice.pools.policy.prepare`."""

from __future__ import annotations

import logging

import numpy as np

from sluice.fast.announcing import announcing
from sluice.pools.policy.lateness import slow
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step

log = logging.getLogger(__name__)

# Seconds of a full pool at each size in turn. One second at each size contradicts those before it.
SIZES, SECONDS = (8, 16, 1_000), 6


def prepare() -> None:
    """Builds the shapes of the family, and compiles the loops where the cache has none (21 s of CPU), which it logs."""
    state, now_ms = PoolState(), 0
    with announcing(log.info, "half a minute on an idle core"):
        for size in SIZES:
            for second in range(SECONDS):
                observation = Observation({"a": size}, _second(now_ms, size, second > 0), cores=4.0, slo_s=1.0)
                now_ms += 1_000
                state, _ = step(state, observation, now_ms)
                # Asked where no size is worth a change.
                state.learnt.evidence.ever_full(observation.cores)
                slow(state.learnt, observation.slo_s)


def _second(start_ms: int, size: int, alike: bool) -> Buckets:
    numbers = np.full(10, float(size))
    done = numbers if alike else 0.1 * numbers
    return Buckets(start_ms + 100 * np.arange(10), numbers, done, 0.1, numbers, np.full(10, 4.0))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    prepare()
