"""The compiled engine of a path does what the plain one does, to the last bit."""

import numpy as np
import pytest
from pydantic import ValidationError

from testbed.path.memory import CONNECTIONS, THREADS
from testbed.path.plain import PlainPathRun
from testbed.path.run import PathRun
from testbed.path.scenario import PathScenario

from .same import assert_same_windows


def made(**more):
    caller = {"cores": 1, "compute_ms": 8, "contention": 0.01, "crosstalk": 0.001, "threads": 12, "connections": 4}
    callee = {"cores": 2, "compute_ms": 9, "wait_ms": 12, "contention": 0.01, "crosstalk": 0.002}
    scenario = {
        "name": "made",
        "seconds": 30,
        "slo_ms": 250,
        "users": 60,
        "think_s": 0.2,
        "load": [[0, 0.2], [10, 1.0], [20, 0.3]],
        "caller": caller | more.pop("caller", {}),
        "callee": callee | more.pop("callee", {}),
    }
    return PathScenario.model_validate(scenario | more)


def assert_same(scenario, resizes=(), seed=1):
    fast, plain = PathRun(scenario, seed), PlainPathRun(scenario, seed)
    for second, pool, size in [*resizes, (30.0, "", 0)]:
        fast.until(second)
        plain.until(second)
        for each in (THREADS, CONNECTIONS):
            window = (each, second - 6.0, second, 100, 120.0)
            assert_same_windows(fast.windows(*window), plain.windows(*window))
        if pool:
            fast.resize(pool, size)
            plain.resize(pool, size)
    assert np.array_equal(fast.outcomes(), plain.outcomes())
    return fast


RESIZES = [
    (4.0, THREADS, 30),
    (9.0, CONNECTIONS, 12),
    (12.5, THREADS, 5),
    (14.0, CONNECTIONS, 2),
    (17.0, THREADS, 9),
    (17.0, CONNECTIONS, 20),
]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_caller(seed):
    assert assert_same(made(), RESIZES, seed).finished > 1500


def test_callers_come_and_go_and_drain():
    events = [{"at_s": 6, "replicas": 3}, {"at_s": 15, "replicas": 1}, {"at_s": 22, "replicas": 2}]
    run = assert_same(made(events=events, caller={"threads": 40, "connections": 2}, users=120), RESIZES)
    assert run.replicas == 2
    assert run.windows(THREADS, 10.0, 14.0, 100, 120.0).own.instances.max() == 3
    assert run.windows(THREADS, 24.0, 30.0, 100, 120.0).own.instances.max() == 2


def test_who_finds_the_queue_full_fails_at_once():
    scenario = made(users=10_500, load=[[0, 1.0]], caller={"threads": 1, "connections": 1}, seconds=2, warm_up_s=0)
    fast, plain = PathRun(scenario, 1), PlainPathRun(scenario, 1)
    for run in (fast, plain):
        run.until(2.0)
    assert np.isinf(fast.outcomes()[1]).sum() > 100
    assert np.array_equal(fast.outcomes(), plain.outcomes())
    for pool in (THREADS, CONNECTIONS):
        assert_same_windows(fast.windows(pool, 0.0, 2.0, 100, 250.0), plain.windows(pool, 0.0, 2.0, 100, 250.0))


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match="size must be an integer from 1 to 256, got 257"):
        PathRun(made(), 1).resize(THREADS, 257)
    with pytest.raises(ValidationError, match="19 instances over the run are not legal; legal: <= 16"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 6, "replicas": 1}, {"at_s": 7, "replicas": 10}])
    with pytest.raises(ValidationError, match="in the order of their times"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 4, "replicas": 1}])
