"""The knee finder, and the behaviour of the pinned kneed that it relies on."""

from importlib.metadata import version

import numpy as np
import pytest
from kneed import KneeLocator

from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.kneedle import DEGREES, find_knee


def test_the_pinned_kneed_finds_the_knee_of_the_kneedle_papers_figure() -> None:
    """y = -1/x + 5 on 0..1 (Satopaa et al., figure 2): the knee is at x = 0.222..., y = 1.895."""
    assert version("kneed") == "0.9.0"
    x = np.linspace(0.0, 1, 10)
    with np.errstate(divide="ignore"):
        y = np.true_divide(-1, x + 0.1) + 5
    locator = KneeLocator(x, y, S=1.0, curve="concave", direction="increasing")
    assert round(locator.knee, 3) == 0.222
    assert round(locator.knee_y, 3) == 1.897


def test_the_pinned_kneed_finds_no_knee_in_a_line() -> None:
    x = np.arange(0.0, 20.0)
    assert KneeLocator(x, 3 * x, S=1.0, curve="concave", direction="increasing").knee is None


def curve(x: np.ndarray, y: np.ndarray) -> Curve:
    return Curve(x, y, np.ones(len(x)))


@pytest.mark.parametrize("degree", DEGREES)
def test_the_knee_of_a_corner_lies_at_the_corner(degree: int) -> None:
    """Rises by 10 per step to 120 at 12, then stays until 40: normalized y - x is largest at 12."""
    x = np.arange(1.0, 41.0)
    knee = find_knee(curve(x, np.minimum(10 * x, 120.0)), degree)
    assert knee is not None
    assert 10 <= knee.concurrency <= 15
    assert knee.degree == degree
    assert knee.fitted_per_s.shape == x.shape


def test_the_knee_of_a_parabola_is_where_its_slope_is_that_of_the_diagonal() -> None:
    """y = x (40 - x) on 0..40 has ends of equal height: the diagonal is y_n = x_n, of slope 400 / 40 = 10.

    40 - 2 x = 10 at x = 15. The top is at 20; Kneedle stands left of it, at 375 of 400.
    """
    x = np.linspace(0, 40, 81)
    knee = find_knee(curve(x, x * (40 - x)), 5)
    assert knee is not None
    assert knee.concurrency == pytest.approx(15, abs=0.5)


def test_the_number_of_points_does_not_change_the_knee() -> None:
    few, many = (np.linspace(1, 40, n) for n in (40, 400))
    knees = [find_knee(curve(x, np.minimum(10 * x, 120.0)), 6) for x in (few, many)]
    assert knees[0] is not None
    assert knees[1] is not None
    assert knees[0].concurrency == pytest.approx(knees[1].concurrency, abs=0.5)


def test_too_few_points_have_no_knee() -> None:
    x = np.arange(1.0, 6.0)
    assert find_knee(curve(x, x), 5) is None


def test_a_constant_has_no_knee() -> None:
    x = np.arange(1.0, 20.0)
    assert find_knee(curve(x, np.zeros(19)), 5) is None
