"""The estimators by the name that `model:` takes in the configuration. A new one is added here, and nowhere else."""

from collections.abc import Mapping

from sluice.estimate.model import Estimator
from sluice.estimate.scg import Scg

ESTIMATORS: Mapping[str, Estimator] = {estimator.name: estimator for estimator in (Scg(),)}
