"""Exact quantiles."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.names import Ints


def nearest_rank(ascending: Ints, share: float) -> int:
    """The smallest value that at least this share of all values does not exceed; there must be one."""
    return int(ascending[max(0, int(np.ceil(share * len(ascending) - 1e-9)) - 1)])
