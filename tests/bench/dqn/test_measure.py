from __future__ import annotations

import numpy as np
import pytest

from bench.dqn.condition import WIDTH, Condition, DataSize, encode
from bench.dqn.measure import ServiceWindows, highest_per_s, measured, seconds, work_s
from bench.dqn.settings import SETTINGS
from bench.dqn.sizes import grid, nearest


def windows(
    in_system: list[float], completions: list[float], size: float = 20.0, length_s: float = 1.0
) -> ServiceWindows:
    n = len(in_system)
    start_ms = (np.arange(n) * round(length_s * 1000)).astype(np.int64)
    in_flight = np.minimum(in_system, size)
    return ServiceWindows(start_ms, in_flight, np.array(in_system), np.array(completions), np.full(n, size), length_s)


def test_the_reward_of_the_worked_example() -> None:
    """80 a second of 100 at most, 20 in the system, SLO 0.2 s: LR 0.8, RU 0.8, TPR 1."""
    seen = measured(windows([20, 20], [80, 80]), 0.2, 100.0, SETTINGS)
    np.testing.assert_allclose(seen.state[1], [1.0, 0.8, 0.8])
    assert seen.reward[1] == pytest.approx(0.8)


def test_lr_is_capped_at_one_and_is_one_where_nothing_comes() -> None:
    seen = measured(windows([1, 0], [80, 0]), 0.2, 100.0, SETTINGS)
    assert seen.state[0, 1] == 1.0
    assert seen.state[1, 1] == 1.0


def test_requests_that_pile_up_lower_tpr() -> None:
    """80 complete and 20 more are in the system than a second before: 100 were asked for."""
    seen = measured(windows([20, 40], [80, 80]), 0.2, 100.0, SETTINGS)
    assert seen.state[1, 0] == pytest.approx(0.8)


def test_seconds_are_whole_and_of_one_size() -> None:
    fine = windows([5.0] * 35, [1.0] * 35, length_s=0.1)
    fine.size[15:] = 10
    found = seconds(fine)
    assert found.start_ms.tolist() == [0, 2000]
    assert found.completions.tolist() == [10.0, 10.0]
    assert found.in_flight.tolist() == [5.0, 5.0]


def test_work_is_the_time_in_service_where_little_is_in_flight() -> None:
    assert work_s(windows([2, 2, 40], [100, 100, 100], size=64)) == pytest.approx(0.02)
    assert work_s(windows([1], [1])) == 0.0


def test_sizes_are_about_a_factor_apart_and_the_nearest_is_found() -> None:
    sizes = grid(1, 20)
    assert sizes.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]
    assert sizes[nearest(sizes, np.array([0.2, 4.4, 9.1, 500.0]))].tolist() == [1, 4, 10, 20]


def test_conditions_that_differ_are_coded_differently() -> None:
    one, other = Condition(4.0, versions="v1", work_s=0.01), Condition(4.0, versions="v2", work_s=0.01)
    assert encode(one).shape == (WIDTH,)
    assert not np.array_equal(encode(one), encode(other))
    assert encode(one)[0] == pytest.approx(0.5)
    assert encode(one)[6] == pytest.approx(0.46, abs=0.01)
    assert not encode(Condition()).any()


def test_data_are_coded_by_their_logarithm_and_none_is_another_thing_than_nothing_told() -> None:
    """(1 + ln 101) / 16 and (1 + ln 2001) / 21; 3 million rows and 0.5 GB are about 1."""
    assert encode(Condition(data=DataSize(100, 2_000)))[-2:] == pytest.approx([0.351, 0.410], abs=0.001)
    assert encode(Condition(data=DataSize(0, None)))[-2:] == pytest.approx([1 / 16, 0])
    assert encode(Condition(data=DataSize(None, 0)))[-2:] == pytest.approx([0, 1 / 21])
    assert encode(Condition(data=DataSize(3_300_000, 490_000_000)))[-2:] == pytest.approx([1, 1], abs=0.01)


def test_data_that_grow_are_the_same_service() -> None:
    one, other = Condition(4.0, data=DataSize(10, 100)), Condition(4.0, data=DataSize(10_000, None))
    assert one.label == other.label
    assert not np.array_equal(encode(one), encode(other))


def test_the_highest_rate_is_forgotten_slowly() -> None:
    """180 a second, then a second of 90: 180 x (1 - 1 / 1,800)."""
    assert highest_per_s(0.0, np.array([180.0, 90.0])) == pytest.approx(179.9)
    assert highest_per_s(179.9, np.array([200.0])) == 200.0
