import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from sluice.pools.estimate.unimodal import unimodal_fit


def fit(y: list[float], weight: list[float] | None = None) -> list[float]:
    fitted: list[float] = unimodal_fit(np.array(y, float), np.array(weight or [1.0] * len(y), float)).tolist()
    return fitted


def test_pools_what_violates_the_hump() -> None:
    # 3 and 2 violate the rise before 4: their mean, 2.5, twice.
    assert fit([1, 3, 2, 4, 0]) == [1, 2.5, 2.5, 4, 0]


def test_weights_count() -> None:
    # (3 * 3 + 1 * 1) / 4 = 2.5 instead of 2.
    assert fit([1, 3, 1, 4, 0], [1, 3, 1, 9, 1]) == [1, 2.5, 2.5, 4, 0]


@pytest.mark.parametrize("y", [[1, 2, 3], [3, 2, 1], [1, 3, 2], [5]])
def test_a_hump_is_its_own_fit(y: list[float]) -> None:
    assert fit(y) == y


numbers = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 9)), min_size=1, max_size=12)


@given(numbers)
def test_rises_and_then_falls(pairs: list[tuple[int, int]]) -> None:
    steps = np.sign(np.diff(fit([y for y, _ in pairs], [w for _, w in pairs])).round(9))
    steps = steps[steps != 0]
    assert sorted(steps.tolist(), reverse=True) == steps.tolist()


@settings(max_examples=200)
@given(numbers)
def test_is_the_best_of_all_splits(pairs: list[tuple[int, int]]) -> None:
    y = np.array([y for y, _ in pairs], dtype=float)
    w = np.array([w for _, w in pairs], dtype=float)

    def error(of: np.ndarray) -> float:
        return float((w * (y - of) ** 2).sum())

    def split(k: int) -> np.ndarray:
        rising = isotonic_regression(y[:k], weights=w[:k]).x if k else []
        falling = isotonic_regression(y[k:], weights=w[k:], increasing=False).x if k < len(y) else []
        return np.concatenate((rising, falling))

    assert error(unimodal_fit(y, w)) == pytest.approx(min(error(split(k)) for k in range(len(y) + 1)), abs=1e-9)
