"""The compiled mesh does what the plain one does, to the last bit."""

import numpy as np
import pytest

from testbed.mesh.application import Host
from testbed.mesh.run import MeshRun

from .meshes import all_to_all, made

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


def application(rate=1.0):
    trees = {name: (rate * each, tree) for name, (each, tree) in TREES.items()}
    return made({"a": 4, "b": 5, "c": 2}, trees, NATURES, hosts=[0.0, 0.2, 0.5])


def assert_same(one, other):
    for what in ("rows", "tallies", "busy", "pairs"):
        assert np.array_equal(getattr(one.engine, what)(), getattr(other.engine, what)()), what
    assert np.array_equal(one.counters().utilization_s, other.counters().utilization_s)


@pytest.mark.parametrize("routing", ["round_robin", "least_request"])
@pytest.mark.parametrize("seed", [1, 2])
def test_same_events(routing, seed):
    solution = all_to_all(application(), lambda i, j: 1.0 + (i + j) % 3)
    runs = [
        MeshRun(application(), solution, seed, routing, np.array([1.0, 0.5, 2.0, 0.2]), plain=plain)
        for plain in (False, True)
    ]
    for run in runs:
        run.until(12.5)
    assert_same(*runs)
    assert len(runs[0].engine.rows()) > 300


@pytest.mark.parametrize("routing", ["round_robin", "least_request"])
def test_connections_containers_and_hosts_change(routing):
    runs = [
        MeshRun(application(), all_to_all(application()), 3, routing, most=20, plain=plain) for plain in (False, True)
    ]
    for run in runs:
        run.until(3.2)
        run.contend({"h0": Host(name="h0", cpu=0.7, memory_bandwidth=0.6, network=0.1)})
        run.until(5.0)
        run.fleet.add("b-new", "b", "h0")
        run.fleet.remove("a-1")
        run.fleet.remove("c-0")
        kept = [
            pair.model_copy(
                update={
                    "connections": [c for c in pair.connections if c.from_ != "a-1" and c.to != "c-0"]
                    + (
                        [
                            c.model_copy(update={"to": "b-new"})
                            for c in pair.connections
                            if c.to == "b-2" and c.from_ != "a-1"
                        ]
                    )
                    + (
                        [
                            c.model_copy(update={"from_": "b-new"})
                            for c in pair.connections
                            if c.from_ == "b-2" and c.to != "c-0"
                        ]
                    )
                }
            )
            for pair in all_to_all(application()).pairs
        ]
        run.connect(all_to_all(application()).model_copy(update={"pairs": kept}))
        run.until(11.0)
    assert_same(*runs)
    fleet, tallies = runs[0].fleet, runs[0].engine.tallies()["visits"]
    assert tallies[fleet.number["b-new"]] > 50
    assert runs[0].engine.busy()[fleet.number["a-1"]] < 0.6 * runs[0].engine.busy()[fleet.number["a-2"]]


def test_who_finds_no_room_fails_at_once():
    """1 container of 100 visits a second gets 3,000: a queue of 1,024 is full after some 0.4 s."""
    crowded = made({"a": 1}, {"read": (3000.0, {"service": "a"})})
    runs = [MeshRun(crowded, all_to_all(crowded), 1, plain=plain) for plain in (False, True)]
    for run in runs:
        run.until(2.0)
    assert_same(*runs)
    assert runs[0].engine.rows()[:, 3].sum() > 1000
