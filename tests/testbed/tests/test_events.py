"""Each event on an application small enough to work out by hand. The network takes 1 ms one way."""

import pytest

from testbed.distributions import Constant
from testbed.events import CpuLimit, PoolSize, Replicas, RequestMix, ServiceTime
from testbed.simulation import Scenario, Simulation
from testbed.topology import Call, PoolSpec, ServiceSpec, Topology

from .worlds import NETWORK, back, compute, wait

FRONT = ServiceSpec(
    "front",
    {"GET /": (Call("back", "GET /work"),), "GET /heavy": (wait(0.050), Call("back", "GET /work"))},
    cores=64,
    connections={"back": PoolSpec(8, 100, name="front.back", max=32, per_replica=True)},
)


class Run:
    """Without users; requests are sent by hand, one kind each."""

    def __init__(self, service, *events):
        self.spans = []
        topology = Topology((FRONT, service), "front", network=Constant(NETWORK))
        self.simulation = Simulation(
            Scenario(topology, {"GET /": 1.0}, Constant(1.0), 0, lambda second: 0.0, events=events),
            1,
            self.spans.append,
        )
        self.application = self.simulation.application

    def send(self, second):
        engine = self.simulation.engine
        engine.at(second, lambda _: self.application.submit(self.application.entry("GET /"), lambda r: None), None)

    def work(self, until=100.0):
        """(instance, start ms, end ms) of back's spans, by end."""
        self.simulation.run_until(until)
        return [
            (span.instance, round(span.start_ns / 1e6), round(span.end_ns / 1e6))
            for span in self.spans
            if span.site.service == "back"
        ]


def test_a_cpu_limit_changes_what_is_running():
    run = Run(back(compute(2.0), compute(0.0)), CpuLimit(1.002, "back", 0.5))
    run.send(0.0)
    # Arrives at 2 ms; 1 s of its 2 s is done when half a core remains: the rest takes 2 s.
    assert run.work() == [("back-1", 2, 3002)]


def test_drift_holds_for_what_starts_after_it():
    run = Run(back(compute(0.010), wait(0.100)), ServiceTime(0.5, "back", compute=3.0, wait=0.5))
    run.send(0.0)
    run.send(1.0)
    assert run.work() == [("back-1", 2, 112), ("back-1", 1002, 1082)]


def test_replicas_come_take_turns_and_drain():
    run = Run(back(wait(0.600)), Replicas(0.5, "back", 2), Replicas(2.5, "back", 1))
    for second in (0.0, 1.0, 2.0, 2.2, 3.0, 4.0):
        run.send(second)
    # 2.2 goes to the second replica, which leaves the rotation at 2.5 and finishes it at 2.802.
    assert run.work() == [
        ("back-1", 2, 602),
        ("back-2", 1002, 1602),
        ("back-1", 2002, 2602),
        ("back-2", 2202, 2802),
        ("back-1", 3002, 3602),
        ("back-1", 4002, 4602),
    ]


def test_a_new_replica_is_a_new_instance_with_the_sizes_and_limits_in_force():
    events = (PoolSize(1.0, "front.back", 5), CpuLimit(1.0, "back", 3.0), Replicas(2.0, "back", 3))
    run = Run(back(wait(0.1), threads=4), *events, Replicas(3.0, "front", 2), Replicas(4.0, "back", 1))
    pool = run.simulation.pools["front.back"]
    run.simulation.run_until(3.5)
    assert [instance.name for instance in run.application.instances["back"]] == ["back-1", "back-2", "back-3"]
    assert [instance.cpu.cores for instance in run.application.instances["back"]] == [3.0, 3.0, 3.0]
    # 5 connections per replica of back, in each of front's two replicas.
    assert [instance.connections["back"].size for instance in run.application.instances["front"]] == [15, 15]
    assert (pool.size, pool.count, pool.bounded.spec.name) == (5, 6, "back")
    run.simulation.run_until(5.0)
    assert [instance.connections["back"].size for instance in run.application.instances["front"]] == [5, 5]
    assert (pool.size, pool.count) == (5, 2)


def test_core_seconds_outlive_the_replica_that_used_them():
    run = Run(back(compute(0.5)), Replicas(0.001, "back", 2), Replicas(2.0, "back", 1))
    run.send(0.0)
    run.send(1.0)
    run.simulation.run_until(0.252)
    assert run.application.services["back"].core_seconds() == pytest.approx(0.250)
    run.simulation.run_until(3.0)
    assert run.application.services["back"].core_seconds() == pytest.approx(1.0)


def test_the_mix_changes_from_light_to_heavy():
    spans = []
    topology = Topology((FRONT, back(wait(0.010))), "front", network=Constant(NETWORK))
    heavy = RequestMix(10.0, {"GET /heavy": 1.0})
    scenario = Scenario(topology, {"GET /": 1.0}, Constant(1.0), 5, lambda second: 1.0, events=(heavy,))
    Simulation(scenario, 1, spans.append).run_until(20.0)
    root = [(span.start_ns / 1e9, span.site.name) for span in spans if not span.parent_id]
    assert {name for start, name in root if start < 10.0} == {"GET /"}
    assert {name for start, name in root if start > 10.01} == {"GET /heavy"}


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (CpuLimit(1.0, "nothing", 2.0), "service must be one of back, front"),
        (CpuLimit(1.0, "back", 0.0), "cores must be > 0 and finite"),
        (CpuLimit(-1.0, "back", 2.0), "at_s must be a finite number from 0"),
        (CpuLimit(float("nan"), "back", 2.0), "at_s must be a finite number from 0"),
        (Replicas(1.0, "nothing", 2), "service must be one of back, front"),
        (Replicas(1.0, "back", 0), "replicas must be an integer from 1"),
        (ServiceTime(1.0, "nothing"), "service must be one of back, front"),
        (ServiceTime(1.0, "back", compute=-1.0), "compute must be > 0 and finite"),
        (ServiceTime(1.0, "back", wait=float("inf")), "wait must be > 0 and finite"),
        (RequestMix(1.0, {"GET /nothing": 1.0}), "call 'GET /nothing' of service 'front'"),
        (RequestMix(1.0, {}), "weights must be >= 0 and their sum > 0"),
        (PoolSize(1.0, "nothing", 2), "pool must be one of front.back"),
        (PoolSize(1.0, "front.back", 33), "size must be an integer from 1 to 32, got 33"),
    ],
)
def test_an_event_that_cannot_happen_is_refused_before_the_run(event, message):
    with pytest.raises(ValueError, match=message):
        Run(back(), event)
