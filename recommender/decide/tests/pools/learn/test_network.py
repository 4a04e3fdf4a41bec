"""Gradients by hand against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from sluice.pools.learn.network import Network


@pytest.mark.parametrize("dueling", [False, True])
def test_the_gradient_is_that_of_finite_differences(dueling: bool) -> None:
    random = np.random.default_rng(3)
    net = Network(inputs=4, actions=5, neurons=6, dueling=dueling)
    theta = random.normal(0, 0.5, net.size)
    states, actions, wanted = random.normal(size=(8, 4)), random.integers(5, size=8), random.normal(size=8)
    _, gradient = net.gradient(theta, states, actions, wanted)
    step, found = 1e-6, np.zeros(net.size)
    for i in range(net.size):
        up, down = theta.copy(), theta.copy()
        up[i] += step
        down[i] -= step
        found[i] = net.gradient(up, states, actions, wanted)[0] - net.gradient(down, states, actions, wanted)[0]
    np.testing.assert_allclose(gradient, found / (2 * step), atol=1e-6)


def test_with_a_value_stream_an_untried_action_moves_with_the_others() -> None:
    """Trained on one action alone, the others' values follow; without the stream they hardly do."""
    moved = {}
    for dueling in (False, True):
        random = np.random.default_rng(1)
        net = Network(inputs=2, actions=4, neurons=8, dueling=dueling)
        theta = net.begin(random)
        states = np.ones((4, 2), dtype=np.float32)
        before = net.values(theta, states)[0, 3]
        for _ in range(200):
            theta -= 0.02 * net.gradient(theta, states, np.array([0, 1, 0, 1]), np.full(4, 1.0, dtype=np.float32))[1]
        moved[dueling] = float(net.values(theta, states)[0, 3] - before)
    assert moved[True] > 0.5 > moved[False] + 0.2
