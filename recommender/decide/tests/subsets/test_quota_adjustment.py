"""Algorithm 3 with its corrections, with numbers worked out by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.microns.adjust import adjusted, gradients

WIDE = np.array([1, 1]), np.array([100, 100])


def test_quota_flows_to_the_pair_that_gains_most() -> None:
    """(-10, -1): aligned (-9, 0), mean -4.5, factors 1.5 and 0.5; as printed it would be the other way round."""
    assert adjusted(np.array([-10.0, -1.0]), np.array([10, 10]), *WIDE, 20, 0.5).tolist() == [15, 5]


def test_equal_gradients_leave_quotas_alone() -> None:
    assert adjusted(np.array([-3.0, -3.0]), np.array([12, 8]), *WIDE, 20, 0.5).tolist() == [12, 8]
    assert adjusted(np.array([-3.0]), np.array([12]), np.array([1]), np.array([50]), 12, 0.5).tolist() == [12]


def test_one_step_at_most_doubles_a_quota() -> None:
    gradient = np.array([-1000.0] + [0.0] * 9)
    quotas = adjusted(gradient, np.full(10, 10), np.full(10, 1), np.full(10, 100), 100, 1.0)
    assert quotas[0] > 10
    assert quotas.sum() == 100


def test_where_the_quota_stayed_the_gradient_does() -> None:
    slopes = gradients(
        np.array([8.0, 5.0]), np.array([10.0, 9.0]), np.array([12, 7]), np.array([10, 7]), np.array([0.0, -3.0])
    )
    assert slopes.tolist() == [-1.0, -3.0]


@given(st.data())
def test_quotas_add_up_within_bounds(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    gradient = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=count, max_size=count)))
    least = np.array(data.draw(st.lists(st.integers(1, 5), min_size=count, max_size=count)))
    most = least + np.array(data.draw(st.lists(st.integers(0, 30), min_size=count, max_size=count)))
    quota = np.array([data.draw(st.integers(int(low), int(high))) for low, high in zip(least, most, strict=True)])
    quotas = adjusted(gradient, quota, least, most, int(quota.sum()), data.draw(st.floats(0.01, 1.0)))
    assert quotas.sum() == quota.sum()
    assert (quotas >= least).all()
    assert (quotas <= most).all()
