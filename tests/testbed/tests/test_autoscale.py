"""The autoscalers' rules on numbers, and their agents on a service whose load is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.autoscale import HorizontalScaler, VerticalScaler, desired_replicas
from testbed.autoscale_agent import CpuSampler, HorizontalAgent, VerticalAgent
from testbed.distributions import Constant
from testbed.simulation import Scenario, Simulation
from testbed.topology import ServiceSpec, Topology

from .worlds import NETWORK, compute


@pytest.mark.parametrize(
    ("replicas", "utilization", "desired"),
    [
        (3, 0.95, 4),  # 3 * 1.1875 = 3.56
        (3, 0.87, 3),  # ratio 1.0875: tolerated
        (3, 0.73, 3),  # ratio 0.9125: tolerated
        (3, 0.20, 1),  # 3 * 0.25 = 0.75
        (1, 1.00, 2),  # ratio 1.25
        (2, 1.60, 4),  # ratio 2, whole: not 5 for a rounding error
        (2, 0.0, 1),
    ],
)
def test_desired_replicas(replicas, utilization, desired):
    assert desired_replicas(replicas, utilization) == desired


def test_down_waits_until_every_larger_answer_is_300_s_old():
    scaler = HorizontalScaler(highest=8)
    assert scaler.decide(0.0, 2, 1.0) == 3
    # From here on 3 replicas at 0.2 ask for 1; the 3 of second 0 holds until 300.
    answers = {now: scaler.decide(now, 3, 0.2) for now in range(15, 316, 15)}
    assert {now for now, answer in answers.items() if answer == 3} == set(range(15, 300, 15))
    assert answers[300] == answers[315] == 1


def test_up_is_at_once_and_bounded():
    assert HorizontalScaler(highest=4).decide(0.0, 4, 1.0) == 4
    assert HorizontalScaler(highest=9).decide(0.0, 4, 1.6) == 8
    assert HorizontalScaler(lowest=3).decide(0.0, 2, 0.8) == 3


@given(st.integers(1, 10), st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_replicas_stay_in_bounds(replicas, samples):
    scaler = HorizontalScaler(lowest=2, highest=6)
    for step, utilization in enumerate(samples):
        replicas = scaler.decide(15.0 * step, replicas, utilization)
        assert 2 <= replicas <= 6 or step == 0


def test_a_limit_goes_up_at_once_and_down_after_four_calm_samples():
    scaler = VerticalScaler(lowest=2, highest=4)
    assert [scaler.decide(2, 0.81), scaler.decide(3, 0.95), scaler.decide(4, 1.0)] == [3, 4, 4]
    assert [scaler.decide(4, 0.2) for _ in range(3)] == [4, 4, 4]
    assert scaler.decide(4, 0.5) == 4  # not calm: the count starts anew
    assert [scaler.decide(4, 0.2) for _ in range(5)] == [4, 4, 4, 3, 4]
    assert [VerticalScaler(lowest=2, patience=1).decide(2.5, 0.0), scaler.decide(3, 0.8)] == [2, 3]


@pytest.mark.parametrize(
    "build",
    [
        lambda: HorizontalScaler(lowest=0),
        lambda: HorizontalScaler(lowest=5, highest=4),
        lambda: HorizontalScaler(target=0),
        lambda: VerticalScaler(lowest=0),
        lambda: VerticalScaler(step=0),
        lambda: VerticalScaler(low=0.8),
        lambda: VerticalScaler(patience=0),
    ],
)
def test_scalers_out_of_range_are_refused(build):
    with pytest.raises(ValueError, match=r"scale (replicas|a CPU limit): needs"):
        build()


def steady(arrivals_per_s, until_s, work_s=0.01, cores=2.0):
    """A service that needs arrivals * work cores."""
    service = ServiceSpec("s", {"GET /": (compute(work_s),)}, cores=cores)
    topology = Topology((service,), "s", network=Constant(NETWORK))
    scenario = Scenario(
        topology, {"GET /": 1.0}, Constant(1.0), 0, lambda at: float(at < until_s), arrivals_per_s=arrivals_per_s
    )
    return Simulation(scenario, 1, lambda span: None)


def test_utilization_is_the_load_that_is_offered():
    # 100/s of 10 ms on 2 cores: 0.5; standard error 0.5 / sqrt(100 * 100) = 0.005.
    simulation = steady(100.0, 1e9)
    sampler = CpuSampler(simulation, "s")
    simulation.run_until(100.0)
    assert sampler.sample() == pytest.approx(0.5, abs=0.015)
    simulation.application.scale("s", 2)
    simulation.run_until(200.0)
    assert sampler.sample() == pytest.approx(0.25, abs=0.008)


def test_hpa_grows_to_what_the_load_needs_and_shrinks_five_minutes_after_it_ended():
    # 540/s of 10 ms want 5.4 cores: at the target of 0.8 that is 3.4 replicas of 2 cores, so 4.
    simulation = steady(540.0, 100.0)
    agent = HorizontalAgent(simulation, "s", HorizontalScaler(highest=6))
    simulation.run_until(15.0)
    assert agent.applied == [(15.0, 2)]  # at 100 % of 2 cores: ratio 1.25
    assert len(simulation.application.instances["s"]) == 1
    simulation.run_until(30.0)
    assert len(simulation.application.instances["s"]) == 2
    simulation.run_until(600.0)
    ups = [replicas for at, replicas in agent.applied if at < 110]
    assert ups == sorted(ups)
    assert 4 <= ups[-1] <= 6
    last_up = max(at for at, replicas in agent.applied if replicas == ups[-1])
    first_down = next(at for at, _ in agent.applied if at > last_up)
    assert first_down >= last_up + 300.0
    assert agent.applied[-1][1] == len(simulation.application.instances["s"]) == 1


def test_vertical_scaling_ends_below_its_threshold():
    # 250/s of 10 ms want 2.5 cores: 2 and 3 cores are above 80 % (3: 0.83), 4 are not (0.63).
    simulation = steady(250.0, 1e9)
    agent = VerticalAgent(simulation, "s", VerticalScaler(lowest=1, highest=8))
    simulation.run_until(120.0)
    assert [cores for _, cores in agent.applied] == [3.0, 4.0]
    assert agent.applied[0] == (15.0, 3.0)


def test_an_unknown_service_is_named():
    with pytest.raises(ValueError, match="autoscale 'x': service must be one of s"):
        VerticalAgent(steady(1.0, 1.0), "x", VerticalScaler())
