"""Connections and weights of one pair."""

import numpy as np
import pytest

from sluice.subsets.connections import connections
from sluice.subsets.microns.orchestrate import orchestrate
from sluice.subsets.microns.traffic import PairTraffic
from sluice.subsets.microns.weigh import LEAST, weighed


def free(count: int) -> np.ndarray:
    return np.full(count, -1)


def test_loads_come_close_to_the_optimum() -> None:
    target = np.array([10.0, 20.0, 30.0, 40.0])
    placed = orchestrate(PairTraffic(np.full(10, 10.0), target, free(10), free(4)), np.full(10, 2), 1, False)
    # Connections carry 5 each: 2, 4, 6 and 8 of them are exact.
    assert placed.received(np.full(10, 10.0), 4) == pytest.approx(target)


def test_each_is_reached_even_by_nobodys_wish() -> None:
    target = np.array([100.0, 100.0, 1e-6])
    placed = orchestrate(PairTraffic(np.full(4, 50.0), target, free(4), free(3)), np.full(4, 2), 1, False)
    assert set(placed.to.tolist()) == {0, 1, 2}
    assert np.bincount(placed.to)[2] == 1


def test_zones_are_kept() -> None:
    zone, below = np.array([0, 0, 1, -1]), np.array([0, 0, 1, 1, 1])
    placed = orchestrate(PairTraffic(np.ones(4), np.ones(5), zone, below), np.array([2, 2, 3, 5]), 1, False)
    for above, to in zip(placed.source().tolist(), placed.to.tolist(), strict=True):
        assert zone[above] in (-1, below[to])


def test_subsets_differ_from_each_other() -> None:
    """200 upstream containers, 3 of 60: chance, not the order of names, says who shares whom."""
    placed = orchestrate(PairTraffic(np.ones(200), np.ones(60), free(200), free(60)), np.full(200, 3), 5, weights=True)
    subsets = {tuple(placed.to[placed.start[upstream] : placed.start[upstream + 1]]) for upstream in range(200)}
    assert len(subsets) == 200
    assert np.ptp(np.bincount(placed.to)) <= 1


def test_weights_reach_the_optimum_that_connections_alone_miss() -> None:
    target = np.array([12.0, 23.0, 25.0])
    even = connections([np.array([0, 1]), np.array([1, 2]), np.array([0, 2])])
    sent = np.array([20.0, 20.0, 20.0])
    assert np.abs(even.received(sent, 3) - target).max() > 3
    placed = weighed(even, sent, target)
    assert placed.received(sent, 3) == pytest.approx(target, rel=0.01)
    assert np.add.reduceat(placed.share, placed.start[:-1]) == pytest.approx([1, 1, 1])


def test_weights_that_cannot_reach_it_end_near_and_keep_every_connection() -> None:
    chain = connections([np.array([0, 1])])
    placed = weighed(chain, np.array([10.0]), np.array([10.0, 1e-9]))
    assert placed.share.min() >= LEAST / 2 * 0.99
    apart = connections([np.array([0]), np.array([1])])
    assert weighed(apart, np.array([5.0, 5.0]), np.array([9.0, 1.0])).share.tolist() == [1.0, 1.0]
