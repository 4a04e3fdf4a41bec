"""The part of a host's contention that is a service's own load is learnt from what steps of weights do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.damping import Damping
from sluice.subsets.fleet import Fleet
from sluice.subsets.latency.curves import Curves
from sluice.subsets.own_load import NOTHING, observed, tilted
from sluice.subsets.pace import WeightPace
from sluice_kit.decide.closed_loops import Truth


def contention(cpu: list[float]) -> np.ndarray:
    return np.column_stack([cpu, np.zeros(len(cpu)), np.zeros(len(cpu))])


def test_k_is_the_slope_of_contention_over_load() -> None:
    """Loads +2, 0, -2 and CPU +0.4, +0.2, 0: 0.1 for each call per second; what all hosts have more cancels out."""
    learnt = observed(NOTHING, np.array([2.0, 0.0, -2.0]), contention([0.4, 0.2, 0.0]))
    assert learnt.per_call == pytest.approx([0.1, 0.0, 0.0])


def test_without_a_clear_slope_it_is_0() -> None:
    assert NOTHING.per_call.tolist() == [0.0, 0.0, 0.0]
    falls = observed(NOTHING, np.array([2.0, 0.0, -2.0]), contention([0.0, 0.2, 0.4]))
    assert falls.per_call.tolist() == [0.0, 0.0, 0.0]
    scattered = observed(NOTHING, np.array([2.0, 0.0, -2.0, 0.0]), contention([0.1, 0.4, 0.0, -0.4]))
    assert scattered.per_call.tolist() == [0.0, 0.0, 0.0]


@given(st.floats(0.001, 0.1), st.integers(0, 100))
def test_k_is_found_within_noise_of_a_tenth_of_the_effect(k: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    learnt = NOTHING
    for _ in range(3):
        change = random.normal(0.0, 5.0, 16)
        cpu = k * change + random.normal(0.0, k * 0.5, 16) + random.normal()
        learnt = observed(learnt, change, contention(cpu.tolist()))
    assert learnt.per_call[0] == pytest.approx(k, rel=0.2)


def test_a_curve_rises_with_the_contention_that_its_load_brings() -> None:
    """5 ms / (1 - cpu) at CPU 0.5 and 10 calls/s: d mu / d cpu over +-0.1 is ln(0.6 / 0.4) / 0.2 = 2.03; with k = 0.01
    20 calls/s more add 0.41."""
    cpu = contention([0.5])
    flat = Truth().curves(cpu)
    curves = tilted(flat, Truth(), cpu, np.array([10.0]), np.array([0.01, 0.0, 0.0]))
    at = curves.at(np.array([10.0]))[0][0]
    assert at == pytest.approx(np.log(10.0))
    assert curves.at(np.array([30.0]))[0][0] - at == pytest.approx(0.405, abs=0.001)
    same = tilted(flat, Truth(), cpu, np.array([10.0]), np.zeros(3))
    assert same.mu.tolist() == flat.mu.tolist()


def test_beyond_the_busiest_host_of_the_samples_latency_grows_as_of_a_queue() -> None:
    """CPU 0.5 at 10 calls/s, 0.01 more with each: 0.7 at 30. Of hosts up to 0.6 there are samples, which show no
    difference: ln(0.4 / 0.3)."""
    cpu = contention([0.5])
    flat = replace(Flat().curves(cpu), busiest=np.array([0.6, 0.0, 0.0]))
    curves = tilted(flat, Flat(), cpu, np.array([10.0]), np.array([0.01, 0.0, 0.0]))
    assert [curves.at(np.array([rate]))[0][0] for rate in (0.0, 10.0, 20.0)] == pytest.approx([0.0, 0.0, 0.0])
    assert curves.at(np.array([30.0]))[0][0] == pytest.approx(np.log(0.4 / 0.3))


def fleet(cpu: float) -> Fleet:
    hosts = contention([cpu] * 4)
    return Fleet("b", ("b-0", "b-1", "b-2", "b-3"), hosts, np.zeros(4, dtype=np.int64), np.full(4, np.inf))


STEADY, WAY = np.full(4, 10.0), np.array([-12.0, 8.0, 4.0, 0.0])
PACE = {"b": WeightPace()}


def test_a_container_with_a_long_way_does_not_shorten_the_steps_of_others() -> None:
    """Half of 8 and of 4 calls/s; a load grows by a quarter of its 10 at most."""
    assert Damping({}, paces=PACE)._step(fleet(0.0), STEADY, WAY).tolist() == [-4.5, 2.5, 2.0, 0.0]


def test_within_zones_all_go_the_same_part_of_their_ways() -> None:
    """2.5 of 8."""
    assert Damping({}, paces=PACE)._step(fleet(0.0), STEADY, WAY, True) == pytest.approx(WAY * 2.5 / 8)


def test_a_step_raises_no_host_by_more_than_0_03_of_own_load() -> None:
    """A call per second is 0.02 of a host: 1.5 of them."""
    step = Damping({}, paces=PACE, per_call={"b": 0.02})._step(fleet(0.5), STEADY, WAY)
    assert step == pytest.approx([-3.0, 1.5, 1.5, 0.0])


def test_a_host_whose_utilization_is_missing_does_not_lift_the_bound_of_the_first_step() -> None:
    """The others say 0.04 by call at most, as below. Where none is known, what steps showed bounds it."""
    hosts = replace(fleet(0.5), contention=contention([np.nan, 0.4, 0.5, 0.6]))
    assert Damping({}, paces=PACE)._step(hosts, STEADY, WAY) == pytest.approx([-1.5, 0.75, 0.75, 0.0])
    unknown = replace(fleet(0.5), contention=np.full((4, 3), np.nan))
    shown = Damping({}, paces=PACE, at_most={"b": 0.02})
    assert shown._step(unknown, STEADY, WAY) == pytest.approx([-3.0, 1.5, 1.5, 0.0])
    assert Damping({}, paces=PACE)._step(unknown, STEADY, WAY).tolist() == [-4.5, 2.5, 2.0, 0.0], "a quarter of 10"


def test_before_own_load_is_known_it_is_at_most_all_of_the_least_busy_host() -> None:
    """0.4 of a host under 10 calls/s is at most 0.04 by call: 0.75 calls/s. Steps that showed 0.02 at most: 1.5."""
    hosts = replace(fleet(0.5), contention=contention([0.9, 0.4, 0.5, 0.6]))
    assert Damping({}, paces=PACE)._step(hosts, STEADY, WAY) == pytest.approx([-1.5, 0.75, 0.75, 0.0])
    shown = Damping({}, paces=PACE, at_most={"b": 0.02})._step(hosts, STEADY, WAY)
    assert shown == pytest.approx([-3.0, 1.5, 1.5, 0.0])


def test_what_k_is_at_most_is_3_standard_errors_above_the_slope() -> None:
    """Loads +2, 0, -2, 0 and CPU +0.1, +0.4, 0, -0.4: the slope is 0.2 / 8 = 0.025; of the squares 0.3275 (about the
    mean 0.025) 0.005 are explained, and sqrt(0.3225 / 3 / 8) = 0.116 is the standard error."""
    learnt = observed(NOTHING, np.array([2.0, 0.0, -2.0, 0.0]), contention([0.1, 0.4, 0.0, -0.4]))
    assert learnt.at_most[0] == pytest.approx(0.025 + 3 * 0.116, abs=0.001)
    assert NOTHING.at_most.tolist() == [np.inf] * 3


class Flat:
    basis = "by the test"

    def curves(self, contention: np.ndarray) -> Curves:
        return Curves(
            np.array([0.0, 10.0, 20.0, 30.0]), np.zeros((len(contention), 4)), np.full((len(contention), 4), 0.3)
        )
