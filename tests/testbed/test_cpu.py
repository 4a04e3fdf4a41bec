import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.cpu import Cpu, total_rate
from testbed.engine import Engine


class Run:
    """Jobs of given (arrival, work) on a CPU, and when each one ended."""

    def __init__(self, jobs, **hardware):
        self.engine = Engine()
        self.cpu = Cpu(self.engine, **hardware)
        self.ends = {}
        for number, (arrival, work) in enumerate(jobs):
            self.engine.at(arrival, self._start, (number, work))

    def _start(self, job):
        number, work = job
        self.cpu.run(work, self._end, number)

    def _end(self, number):
        self.ends[number] = self.engine.now

    def until(self, second=1e6):
        self.engine.run_until(second)
        return self.ends


def test_the_documented_values_of_the_penalty():
    rates = [round(total_rate(n, 2, 0.01, 0.0005), 3) for n in (1, 2, 4, 8, 16, 32, 64)]
    assert rates == [1.000, 1.978, 1.931, 1.821, 1.575, 1.107, 0.549]
    # By hand: n = 16: 2 / (1 + 0.01 * 15 + 0.0005 * 16 * 15) = 2 / 1.27 = 1.5748.
    assert total_rate(0, 2, 0.01, 0.0005) == 0.0


def test_two_jobs_share_one_core():
    # 0 to 1: the first alone, 2 s of 3 s left. From 1 on each gets half: the second (1 s) ends at 3, when the first
    # has 1 s left, alone: it ends at 4.
    assert Run([(0, 3), (1, 1)], cores=1).until() == pytest.approx({0: 4, 1: 3})


def test_as_many_jobs_as_cores_do_not_slow_each_other():
    assert Run([(0, 3), (1, 1)], cores=2).until() == pytest.approx({0: 3, 1: 2})


def test_three_jobs_on_two_cores():
    # Each gets 2/3 of a core: the two of 2 s end at 3; the one of 3 s then has 1 s left, alone.
    assert Run([(0, 2), (0, 2), (0, 3)], cores=2).until() == pytest.approx({0: 3, 1: 3, 2: 4})


def test_contention_and_crosstalk_slow_all():
    # R(2) = 2 / (1 + 0.1 + 0.05 * 2) = 1.6667, each 0.8333: 1 s of work takes 1.2 s. The second, with 1 s left of its
    # 2 s, then goes on alone at rate 1.
    assert Run([(0, 1), (0, 2)], cores=2, contention=0.1, crosstalk=0.05).until() == pytest.approx({0: 1.2, 1: 2.2})


def test_core_seconds_count_occupied_cores_not_progress():
    run = Run([(0, 1), (0, 2)], cores=2, contention=0.1, crosstalk=0.05)
    run.until(10.0)
    assert run.cpu.core_seconds == pytest.approx(2 * 1.2 + 1.0)


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0.001, 5)), min_size=1, max_size=30),
    st.sampled_from([1.0, 1.5, 4.0]),
)
def test_agrees_with_stepping_every_job(jobs, cores):
    assert Run(jobs, cores=cores, contention=0.02, crosstalk=0.001).until() == pytest.approx(
        _stepped(jobs, cores, 0.02, 0.001), rel=1e-6
    )


def _stepped(jobs, cores, contention, crosstalk):
    """The same by the definition: between two events every job's remaining work falls at the common rate."""
    now = 0.0
    left: dict[int, float] = {}
    ends: dict[int, float] = {}
    arrivals = sorted((arrival, number) for number, (arrival, _) in enumerate(jobs))
    while arrivals or left:
        rate = total_rate(len(left), cores, contention, crosstalk) / len(left) if left else 0.0
        departure = now + min(left.values()) / rate if left else float("inf")
        if arrivals and arrivals[0][0] <= departure:
            time, number = arrivals.pop(0)
            left = {job: work - (time - now) * rate for job, work in left.items()}
            left[number] = jobs[number][1]
        else:
            time = departure
            first = min(left, key=lambda job: left[job])
            left = {job: work - (time - now) * rate for job, work in left.items() if job != first}
            ends[first] = time
        now = time
    return ends


@pytest.mark.parametrize("bad", [{"cores": 0}, {"cores": 1, "contention": -1}, {"cores": float("nan")}])
def test_nonsense_is_refused(bad):
    with pytest.raises(ValueError, match="cores must be > 0"):
        Cpu(Engine(), **bad)
