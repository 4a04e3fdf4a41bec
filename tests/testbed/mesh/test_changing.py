"""Containers that come and go: numbers by hand."""

import numpy as np
import pytest

from testbed.mesh.autoscaler import MeshAutoscaler, desired
from testbed.mesh.meshes import all_to_all, made
from testbed.mesh.run import MeshRun
from testbed.mesh.solution import Solution

TREE = {"service": "a", "stages": [[{"service": "b"}]]}


def mesh(rate=20.0, **services):
    application = made(services, {"read": (rate, TREE)}, {"a": {"work_ms": 1.0}, "b": {"work_ms": 1.0}})
    return application, all_to_all(application)


def visits(run):
    return dict(zip(run.fleet.names, run.engine.tallies()["visits"].tolist(), strict=True))


def test_only_the_kept_containers_take_calls():
    """Of 2 a and 3 b the first 1 and 2 do for 100 s; then 2 and 1 do: `b-1` has half of the calls of the first part."""
    application, _ = mesh(a=2, b=3)
    _, few = mesh(a=1, b=2)
    run = MeshRun(application, few, 1, counts=[1, 2])
    run.until(100.0)
    first = visits(run)
    assert first["a-1"] == first["b-2"] == 0
    assert first["b-0"] == pytest.approx(first["b-1"], abs=1)
    run.connect(mesh(a=2, b=1)[1], [2, 1])
    run.until(200.0)
    after = visits(run)
    assert after["b-1"] - first["b-1"] <= 2
    assert after["a-1"] == pytest.approx(1000, rel=0.1)
    assert run.connections == 2


def test_a_container_that_goes_makes_its_outstanding_calls_as_before():
    """180/s on two `a` of 100/s: at 90 % `a-1` has visits when it goes. They call `b-1`, its only connection."""
    application, _ = mesh(rate=180.0, a=2, b=2)
    straight = Solution.model_validate(
        {
            "pairs": [
                {
                    "upstream": "a",
                    "downstream": "b",
                    "connections": [{"from": "a-0", "to": "b-0"}, {"from": "a-1", "to": "b-1"}],
                }
            ]
        }
    )
    run = MeshRun(application, straight, 1)
    run.until(40.0)
    run.connect(mesh(a=1, b=1)[1], [1, 1])
    run.until(50.0)
    assert visits(run)["a-1"] == visits(run)["b-1"] > 3000


def test_a_solution_may_not_name_a_container_that_takes_no_calls():
    application, both = mesh(a=2, b=2)
    with pytest.raises(ValueError, match="'a-1' is not one of a that take calls"):
        MeshRun(application, both, 1, counts=[1, 2])
    with pytest.raises(ValueError, match="3 containers of b; legal: 1 to 2"):
        MeshRun(application, both, 1, counts=[1, 3])


@pytest.mark.parametrize(
    ("count", "utilization", "wanted"), [(4, 0.45, 6), (4, 0.32, 4), (4, 0.28, 4), (4, 0.2, 3), (3, 0.0, 1)]
)
def test_desired_numbers(count, utilization, wanted):
    """4 x 0.45 / 0.3 = 6; within a tenth of the target nothing changes; 4 x 0.2 / 0.3 = 2.7, so 3."""
    assert desired(count, utilization, 0.3) == wanted


def test_new_containers_are_ready_later_and_go_after_five_minutes():
    scaler = MeshAutoscaler([4], [8], 0.3, 30.0)
    assert scaler.scale(0.0, np.array([0.45])) == [4]
    assert scaler.scale(15.0, np.array([0.45])) == [4]
    assert scaler.scale(30.0, np.array([0.3])) == [6]
    assert [scaler.scale(second, np.array([0.1])) for second in (45.0, 300.0, 315.0)] == [[6], [6], [6]]
    assert scaler.scale(331.0, np.array([0.1])) == [2]


def test_no_more_than_the_most():
    scaler = MeshAutoscaler([4], [5], 0.3, 0.0)
    scaler.scale(0.0, np.array([0.9]))
    assert scaler.scale(15.0, np.array([0.9])) == [5]
