"""What the first belief of a process would wait for, done before it: `python -m sluice...belief.prepare`."""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.belief.doubt import contradiction
from sluice.pools.estimate.belief.evidence import Evidence, Second, runs
from sluice.pools.estimate.belief.kept import believed


def prepare() -> None:
    """Makes the shapes of the family, and compiles the loops where that was not done yet (10 s and more)."""
    seconds = [Second(4.0, size > 1, size > 1, size, 10 * size, 4.0) for size in (1.0, 4.0, 8.0, 16.0)]
    evidence = Evidence().with_seconds(seconds)
    kept = believed(None, evidence, 4.0)
    now = believed(kept, evidence.with_second(seconds[0]), 4.0).now
    contradiction(now, seconds[1], dispersion=1.0)
    now.gains(8, 1_000)
    numbers = np.ones(10)
    runs((np.arange(10), numbers, numbers, numbers, numbers), 0.1, 1.0)


if __name__ == "__main__":
    prepare()
