"""Services with OpenTelemetry's own defaults, and an empty configuration: each pool gets a right size."""

import os
from collections.abc import Iterator
from math import sqrt
from statistics import fmean, variance

import pytest

from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.pool_size_pb2 import PoolSize, State
from sluice_kit.applications.from_nothing import Scene, from_nothing
from sluice_kit.local_stack.driver import Stack

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one core for the service and one for its load are needed"
)

WITHIN_S = 300
NEAR = 0.95
SIZES = (8, 12, 16, 24, 40)
ROUNDS, MEASURE_S = 3, 6


@pytest.fixture(scope="module")
def scene(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with from_nothing(stack, tmp_path_factory.mktemp("from-nothing")) as up:
        yield up


def is_known(size: PoolSize) -> bool:
    """Its threshold is derived, and a minute of evidence shows the best size."""
    derived = any(reason.code == "SLO_DERIVED" for reason in size.reasons)
    return derived and size.state == State.STATE_PROVIDED


@pytest.mark.parametrize("name", ["go", "spring", "tomcat", "python"])
def test_a_pool_that_nobody_named_gets_a_right_size(scene: Scene, name: str) -> None:
    service = scene.services[name]
    found = scene.found(service, WITHIN_S, is_known)
    best = found.size.unguarded_target
    print(f"{name}: {best} after {found.after_s:.0f} s of load: {found.size}", flush=True)
    assert found.size.action == Action.ACTION_HOLD
    assert found.size.HasField("unguarded_target"), found.size
    rounds: dict[int, list[float]] = {size: [] for size in sorted({*SIZES, best})}
    for _ in range(ROUNDS):  # in turns, so that a slow minute of the machine meets all sizes
        for size, good in rounds.items():
            good.append(scene.users(service, size, MEASURE_S).good_per_s)
    sweep = {size: fmean(good) for size, good in rounds.items()}
    # Two rounds of one size differ by a third at times: rows that all change let many through, or few.
    error = sqrt(fmean(variance(good) for good in rounds.values()) / ROUNDS)
    assert sweep[best] + 2 * error >= NEAR * max(sweep.values()) > 2 * error, (sweep, error)
