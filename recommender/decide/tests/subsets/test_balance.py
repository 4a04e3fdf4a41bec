"""Loads at which containers are equally slow, with numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.balance import TRICKLE, balance

RATE = np.linspace(1, 400, 400)


def lines(*slopes: float, idle: float = 1.0) -> Curves:
    """ln(latency) = idle + slope x rate; no spread."""
    mu = np.array([idle + slope * RATE for slope in slopes])
    return Curves(RATE, mu, np.full(mu.shape, 0.0))


def test_who_slows_down_twice_as_fast_gets_half() -> None:
    balanced = balance(lines(0.02, 0.01), 300.0, np.full(2, np.inf), 1.645, beta=1e-4)
    assert balanced.load == pytest.approx([100, 200], rel=0.02)
    assert balanced.apart < 0.01
    assert balanced.fits


def test_who_is_slower_without_load_than_others_with_it_gets_a_trickle() -> None:
    curves = lines(0.01, 0.01)
    slow = Curves(RATE, curves.mu + np.array([[0.0], [9.0]]), curves.sigma)
    balanced = balance(slow, 100.0, np.full(2, np.inf), 1.645)
    assert balanced.load[1] == pytest.approx(TRICKLE * 50)


def test_equal_and_flat_curves_share_alike() -> None:
    """Eq. 8 divides by their difference, which is 0."""
    flat = Curves(RATE, np.ones((4, 400)), np.ones((4, 400)))
    assert balance(flat, 100.0, np.full(4, np.inf), 1.645).load == pytest.approx(np.full(4, 25.0))


def test_flat_curves_that_differ_by_less_than_a_model_knows_share_nearly_alike() -> None:
    flat = Curves(RATE, np.array([[1.0], [1.01]]) * np.ones((2, 400)), np.zeros((2, 400)))
    load = balance(flat, 100.0, np.full(2, np.inf), 1.645, beta=0.1).load
    assert load[0] / load[1] == pytest.approx(np.exp(0.1), rel=0.02)


def test_capacities_hold_where_they_can() -> None:
    balanced = balance(lines(0.01, 0.01, 0.01), 300.0, np.array([50.0, np.inf, np.inf]), 1.645)
    assert balanced.load == pytest.approx([50, 125, 125], rel=1e-3)
    full = balance(lines(0.01, 0.01), 300.0, np.array([50.0, 100.0]), 1.645)
    assert full.load == pytest.approx([100, 200])
    assert not full.fits


def test_loads_far_beyond_what_was_seen_still_end() -> None:
    assert balance(lines(0.02, 0.01), 1e7, np.full(2, np.inf), 1.645).load.sum() == pytest.approx(1e7)


@given(st.data())
def test_loads_add_up_are_legal_and_faster_containers_get_more(data: st.DataObject) -> None:
    count, points = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 6))
    number = st.floats(0, 3)
    rate = np.cumsum(np.array(data.draw(st.lists(st.floats(0.1, 50), min_size=points, max_size=points))))
    rises = np.array(data.draw(st.lists(number, min_size=count * points, max_size=count * points)))
    curves = Curves(rate, np.cumsum(rises.reshape(count, points), axis=1), np.full((count, points), 0.3))
    total = data.draw(st.floats(1e-3, 1e4))
    capacity = np.array(data.draw(st.lists(st.floats(0.1, 1e4) | st.just(np.inf), min_size=count, max_size=count)))
    balanced = balance(curves, total, capacity, 1.645)
    assert balanced.load.sum() == pytest.approx(total, rel=1e-6)
    assert (balanced.load >= 0).all()
    if balanced.fits:
        assert (balanced.load <= capacity * (1 + 1e-9)).all()
    best = int(np.argmin(curves.mu[:, 0]))
    if np.isinf(capacity).all() and (curves.mu[best] <= curves.mu).all():
        assert balanced.load[best] >= balanced.load.max() * (1 - 1e-6)
