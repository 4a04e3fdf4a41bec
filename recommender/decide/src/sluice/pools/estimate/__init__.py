"""Estimators: pure functions from samples to the size of a pool. To add one, see CONTRIBUTING.md."""

from sluice.pools.estimate.model import Estimate, Estimator
from sluice.pools.estimate.samples import Samples
from sluice.pools.estimate.scg import Scg

__all__ = ["Estimate", "Estimator", "Samples", "Scg"]
