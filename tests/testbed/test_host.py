"""Instances that share a host's cores, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.cpu import Cpu
from testbed.engine import Engine
from testbed.host import Host
from testbed.topology import Call, HostSpec, ServiceSpec, Topology
from testbed.worlds import Application, compute


class Run:
    """Jobs of (guest, arrival, work) on guests of given cores that share one host."""

    def __init__(self, host_cores, guest_cores, jobs):
        self.engine = Engine()
        host = Host("node", host_cores)
        self.cpus = [Cpu(self.engine, cores, host=host) for cores in guest_cores]
        self.ends = {}
        for number, (guest, arrival, work) in enumerate(jobs):
            self.engine.at(arrival, self._start, (number, guest, work))
        self.engine.run_until(1e5)

    def _start(self, job):
        number, guest, work = job
        self.cpus[guest].run(work, self._end, number)

    def _end(self, number):
        self.ends[number] = self.engine.now


def test_a_host_with_enough_cores_slows_nobody():
    assert Run(2.0, (1, 1), [(0, 0, 2.0), (1, 0, 3.0)]).ends == pytest.approx({0: 2.0, 1: 3.0})


def test_guests_that_want_more_than_there_is_get_the_same_part_of_it():
    # Two want 1 core each of a host with 1: both at half speed until 4, when the first (2 s) is done; the second has
    # then 1 s of its 3 s left and the host to itself: 5.
    run = Run(1.0, (1, 1), [(0, 0, 2.0), (1, 0, 3.0)])
    assert run.ends == pytest.approx({0: 4.0, 1: 5.0})
    assert [cpu.used() for cpu in run.cpus] == pytest.approx([2.0, 3.0])


def test_a_guest_that_comes_slows_what_is_running():
    # 4 cores; 4 jobs of 4 s on the first guest (4 cores). At 2 s the second brings two: 6 wanted, share 2/3.
    jobs = [(0, 0, 4.0)] * 4 + [(1, 2.0, 2.0)] * 2
    # The second's jobs take 2 / (2/3) = 3 s, until 5 s; the first's have then done 2 + 2 = 4 s of work: also at 5 s.
    assert Run(4.0, (4, 2), jobs).ends == pytest.approx(dict.fromkeys(range(6), 5.0))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 20), st.floats(0.01, 3)), min_size=1, max_size=25),
    st.sampled_from([1.0, 2.5]),
)
def test_all_work_is_done_and_never_faster_than_the_host_allows(jobs, cores):
    run = Run(cores, (1, 2, 1.5), jobs)
    work = sum(job[2] for job in jobs)
    assert len(run.ends) == len(jobs)
    assert sum(cpu.used() for cpu in run.cpus) == pytest.approx(work, rel=1e-6)
    assert max(run.ends.values()) >= min(job[1] for job in jobs) + work / cores - 1e-6
    for number, (_, arrival, needed) in enumerate(jobs):
        assert run.ends[number] >= arrival + needed - 1e-6


def test_services_are_placed_on_hosts_by_name_and_turn():
    service = ServiceSpec("s", {"GET /": (compute(1.0),)}, replicas=3, hosts=("a", "b"))
    topology = Topology((service,), "s", hosts=(HostSpec("a", 1.0), HostSpec("b", 4.0)))
    engine, ends = Engine(), []
    application = Application(topology, engine, 1, lambda span: None)
    for _ in range(3):
        engine.at(
            0.0, lambda _: application.submit(application.entry("GET /"), lambda r: ends.append(engine.now)), None
        )
    engine.run_until(10.0)
    # The first and third replica share the one core of a: 2 s; the second has b's to itself: 1 s.
    assert ends == pytest.approx([1.0, 2.0, 2.0], abs=0.01)


def test_an_unknown_host_and_a_host_without_cores_are_refused():
    service = ServiceSpec("s", {"GET /": (Call("s", "GET /"),)}, hosts=("a",))
    with pytest.raises(ValueError, match=r"place service 's' on 'a': known hosts are \[\]"):
        Application(Topology((service,), "s"), Engine(), 1, lambda span: None)
    with pytest.raises(ValueError, match="cores must be > 0, got 0"):
        Host("a", 0)


def test_other_tenants_take_cores_and_slow_what_is_left():
    # 2 cores of which others use half: one is left for two guests that want one each, and all work takes 1 / speed.
    engine, ends = Engine(), []
    host = Host("node", 2.0, (0.5, 0.0, 0.0))
    for cpu in [Cpu(engine, 1.0, host=host) for _ in range(2)]:
        cpu.run(1.0, lambda _: ends.append(engine.now), None)
    engine.run_until(100.0)
    assert ends == pytest.approx([2.0 / host.speed] * 2)
    assert 1 / host.speed == pytest.approx(2.0 ** (1.7565 / 3), rel=1e-4)
    with pytest.raises(ValueError, match=r"what others use must be >= 0 and < 1, got \(1.0, 0, 0\)"):
        Host("a", 1.0, (1.0, 0, 0))
