"""The compiled mesh does what the plain one did (``vectors``)."""

import numpy as np
import pytest

from testbed.mesh.application import Host
from testbed.mesh.meshes import all_to_all, made
from testbed.mesh.run import MeshRun
from testbed.vectors import assert_as_seen, cases, outline

TREES = {
    "read": (
        60.0,
        {
            "service": "a",
            "stages": [
                [{"service": "b", "calls": 1.5}, {"service": "c"}],
                [{"service": "b", "stages": [[{"service": "c", "calls": 0.3}]]}],
            ],
        },
    ),
    "write": (15.0, {"service": "b", "stages": [[{"service": "c"}]]}),
}
NATURES = {"a": {"work_ms": 0.5}, "b": {"work_ms": 0.8, "cv": 1.0}, "c": {"work_ms": 0.2, "cpu": 0.2, "network": 0.5}}


def finished(name, routing, seed):
    """Uneven weights under a load that varies; hosts that others take; 1 container that gets 3,000 visits a second."""
    if name == "no room":
        application = made({"a": 1}, {"read": (3000.0, {"service": "a"})})
        run = MeshRun(application, all_to_all(application), seed, routing)
        run.until(2.0)
        return run
    application = made({"a": 4, "b": 5, "c": 2}, TREES, NATURES, hosts=[0.0, 0.2, 0.5])
    if name.startswith("events"):
        solution = all_to_all(application, lambda i, j: 1.0 + (i + j) % 3)
        run = MeshRun(application, solution, seed, routing, np.array([1.0, 0.5, 2.0, 0.2]))
        run.until(12.5)
        return run
    run = MeshRun(application, all_to_all(application), seed, routing)
    run.until(3.2)
    run.contend({"h0": Host(name="h0", cpu=0.7, memory_bandwidth=0.6, network=0.1)})
    run.until(11.0)
    return run


@pytest.mark.parametrize("case", cases("mesh"))
def test_what_the_plain_engine_did(case):
    run = finished(case["name"], case["routing"], case["seed"])
    engine, tallies = run.engine, run.engine.tallies()
    columns = [outline(column) for column in engine.rows()[:, :4].T]
    columns += [outline(tallies[name]) for name in tallies.dtype.names]
    columns += [outline(engine.busy()), outline(engine.pairs()), outline(run.counters().utilization_s)]
    assert_as_seen(columns, case["seen"])


def test_who_finds_no_room_fails_at_once():
    """A container of 100 visits a second gets 3,000: a queue of 1,024 is full after some 0.4 s."""
    assert finished("no room", "round_robin", 1).engine.rows()[:, 3].sum() > 1000
