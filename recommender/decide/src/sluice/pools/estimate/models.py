"""The estimators by the name that `model:` takes in the configuration. Add a new one here, and nowhere else."""

from collections.abc import Mapping
from functools import cache

from sluice.pools.estimate.evidence import NEED, Need, need_at
from sluice.pools.estimate.model import Estimator
from sluice.pools.estimate.scg import Scg
from sluice.pools.estimate.scg_kneedle import ScgKneedle
from sluice.pools.estimate.scg_top import ScgTop
from sluice.pools.estimate.scg_unimodal import ScgUnimodal
from sluice.pools.estimate.sct import Sct


def estimators(need: Need = NEED) -> Mapping[str, Estimator]:
    """All estimators. Each requires `need` before it names a size (but `scg-kneedle`, which requires
    nothing, and serves comparison)."""
    all_estimators: tuple[Estimator, ...] = (ScgTop(need), Scg(need), ScgUnimodal(need), ScgKneedle(), Sct(need))
    return {estimator.name: estimator for estimator in all_estimators}


@cache
def estimators_at(bucket_ms: int) -> Mapping[str, Estimator]:
    """As `estimators`; each requires as much time in buckets of this length as `NEED` does in those of 100 ms."""
    return estimators(need_at(bucket_ms))


ESTIMATORS = estimators()

BELIEF = "belief"
"""The default of a pool: the belief over its curve (`pools.policy`) decides sizes. It is no estimator of a window."""

DEFAULT = ScgTop.name
"""The estimator that wins on the testbed: `make bench BENCH=table1`, and its table in tests/bench/results."""
