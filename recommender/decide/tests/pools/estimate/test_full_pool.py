"""What is read from the buckets in which a pool was full."""

import numpy as np

from sluice.pools.estimate import full_pool
from sluice_kit.decide.humps import samples_of


def test_a_pool_that_thrashes_when_full_does_not_work_hardest_then() -> None:
    level = np.repeat([6.0, 10.0], 20)
    too_small = samples_of(level, np.repeat([60.0, 100.0], 20), limit=10)
    thrashing = samples_of(level, np.repeat([60.0, 30.0], 20), limit=10)
    assert full_pool.works_hardest_when_full(too_small)
    assert not full_pool.works_hardest_when_full(thrashing)
    assert full_pool.is_limited(too_small)
    assert not full_pool.is_limited(samples_of(level, level, limit=np.nan))
