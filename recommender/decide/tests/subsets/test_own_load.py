"""The part of a host's contention that is a service's own load is learnt from what steps of weights do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.own_load import NOTHING, observed, tilted
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
