"""The actions: sizes about a factor 1.2 apart, as the network has an output for each.

The paper has one output for each size up to 200, most of which a pool never has. Worked, 1 to 20: 1, 2, 3, 4, 5, 6, 7,
8, 10, 12, 14, 17, 20.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.samples import Floats

Ints = NDArray[np.int64]
FACTOR = 1.2


def grid(least: int, most: int) -> Ints:
    """The sizes from least to most, both included, ascending."""
    sizes = [least]
    while sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, round(sizes[-1] * FACTOR))))
    return np.array(sizes, dtype=np.int64)


def nearest(sizes: Ints, values: Floats) -> Ints:
    """Index of the size that is nearest to each value in its logarithm, shape (n,). Values below 1 count as 1."""
    ln_sizes, ln_values = np.log(sizes), np.log(np.maximum(values, 1.0))
    borders = (ln_sizes[1:] + ln_sizes[:-1]) / 2
    indices: Ints = np.searchsorted(borders, ln_values, side="left")
    return indices
