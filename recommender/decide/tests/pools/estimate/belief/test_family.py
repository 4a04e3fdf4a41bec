"""Shapes of the curve: the formula's worked values, and the chain of a pool that is not full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.belief.family import GRID, KAPPA, LN_MOST, SIGMA, K, P, _opened, family, ln_throughput

ONE = np.ones(1)


@pytest.mark.parametrize(("n", "rate"), [(1, 0.995), (5, 4.38), (10, 6.49), (20, 6.48), (40, 3.79)])
def test_worked_values(n: float, rate: float) -> None:
    # 5: 5 / sqrt(1 + 0.25) / (1 + 0.001 x 5 x 4) = 4.472 / 1.02
    found = np.exp(ln_throughput(np.array([float(n)]), ONE * 10, ONE * 2, ONE * 0, ONE * 0.001))
    assert found[0, 0] == pytest.approx(rate, abs=0.005)


def test_a_single_thread_has_its_own_speed_whatever_hinders_others() -> None:
    found = ln_throughput(np.array([1.0]), ONE * 1e9, ONE * 1, ONE * 0.02, ONE * 0.004)
    assert found[0, 0] == pytest.approx(0.0, abs=1e-8)


def test_there_is_a_shape_for_each_combination_ordered_by_k() -> None:
    shapes = family()
    assert len(shapes) == len(K) * len(P) * len(SIGMA) * len(KAPPA) == 2_376
    assert (np.diff(shapes.k) >= 0).all()
    assert shapes.k[0] == 1
    assert shapes.k[shapes.stride] == pytest.approx(K[1])
    assert shapes.k[-1] == pytest.approx(256)


def test_a_pool_that_is_not_full_never_completes_more_than_a_full_one_with_as_many_in_flight() -> None:
    shapes = family()
    assert shapes.closed.shape == shapes.opened.shape == (2_376, len(GRID))
    assert np.isfinite(shapes.opened).all()
    assert np.isfinite(shapes.closed).all()
    assert (shapes.opened <= shapes.closed).all()


def test_each_shape_rises_to_one_top_and_falls_from_there() -> None:
    rises = np.diff(family().closed, axis=1) > 1e-12
    # Never up again once it went down.
    assert (rises[:, 1:] <= rises[:, :-1]).all()


@pytest.mark.parametrize("in_flight", [0.05, 0.1, 0.25, 1.0, 4.0, 19.0])
def test_one_server_has_the_throughput_of_the_textbook(in_flight: float) -> None:
    # M/M/1: L = rho / (1 - rho), so rho = L / (1 + L): 1 in flight on average complete half of what one server can.
    found = np.exp(np.interp(np.log(in_flight), GRID, _opened(np.zeros(512))))
    assert found == pytest.approx(in_flight / (1 + in_flight), rel=0.01)


@pytest.mark.parametrize("full", [False, True])
def test_of_few_in_flight_each_has_a_thread_s_speed(full: bool) -> None:
    # k = 16, p = 8, no contention: 0.1 and 0.2 in flight complete 0.1 and 0.2 of what a thread does; so does 0.01,
    # which lies below the grid.
    shapes = family()
    shape = int(np.flatnonzero(np.isclose(shapes.k, 16))[2 * len(SIGMA) * len(KAPPA)])
    few = np.array([0.01, 0.1, 0.2])
    found = np.exp(shapes.rows(np.log(few), np.full(3, full), np.ones(3), np.array([shape])))[0]
    assert found == pytest.approx(few, rel=0.01)


def test_threads_that_do_not_hinder_each_other_complete_in_proportion_open_or_closed() -> None:
    # M/M/infinity: X(n) = n. At 512 states and half of that load the chain is not cut off.
    found = _opened(np.log(np.arange(1.0, 513.0)))
    light = np.log(256) > GRID
    assert found[light] == pytest.approx(GRID[light], abs=0.005)


@given(st.integers(0, len(K) - 2), st.integers(0, 62), st.floats(0.0, float(LN_MOST)), st.booleans())
def test_other_cores_move_k_in_proportion(k: int, rest: int, ln_n: float, full: bool) -> None:
    """On cores that are a step of k more, a shape is the next one in k."""
    shapes = family()
    step = np.array([K[1] / K[0]])
    here, kind = np.array([ln_n]), np.array([full])
    moved = shapes.rows(here, kind, step, np.array([k * shapes.stride + rest]))
    next_one = shapes.rows(here, kind, ONE, np.array([(k + 1) * shapes.stride + rest]))
    assert moved == pytest.approx(next_one, abs=1e-9)


@given(st.lists(st.tuples(st.floats(0.5, 512.0), st.booleans()), min_size=1, max_size=8))
def test_rows_on_the_cores_of_now_are_read_from_the_tables(asked: list[tuple[float, bool]]) -> None:
    shapes, some = family(), np.array([0, 700, 2_078])
    ln_n, full = np.log([n for n, _ in asked]), np.array([is_full for _, is_full in asked])
    found = shapes.rows(ln_n, full, np.ones(len(asked)), some)
    for row, shape in enumerate(some):
        opened, closed = (np.interp(ln_n, GRID, table[shape]) for table in (shapes.opened, shapes.closed))
        assert found[row] == pytest.approx(np.where(full, closed, opened), abs=1e-9)
    assert shapes.full(ln_n, some)[:, full] == pytest.approx(found[:, full], abs=1e-9)


def test_beyond_the_grid_its_ends_count() -> None:
    shapes = family()
    assert shapes.full(np.log([0.01, 1e6]))[:, 0] == pytest.approx(shapes.closed[:, 0])
    assert shapes.full(np.log([0.01, 1e6]))[:, 1] == pytest.approx(shapes.closed[:, -1])
