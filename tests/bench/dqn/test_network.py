"""Gradients by hand against finite differences."""

from __future__ import annotations

import numpy as np

from bench.dqn.network import Network


def test_the_gradient_is_that_of_finite_differences() -> None:
    random = np.random.default_rng(3)
    net = Network(inputs=4, actions=5, neurons=6)
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
