"""The simulated application to tune: its laws by hand, its spaces, and that a trial is repeatable."""

import pytest

from bench.tuning.measured import measured
from bench.tuning.network import Laws, _capacity, _misses, applied, paths, space
from bench.tuning.race import Run, critical_path, table
from sluice.tuning.space.check import check_space


def test_capacity_is_whole_at_the_best_number_of_threads() -> None:
    assert _capacity(8, 8.0) == 1.0
    # u(1) = 1; u(8) = 8 / (1 + 0.05 x 7 + 0.95 / 64 x 56) = 8 / 2.18125 = 3.668.
    assert _capacity(1, 8.0) == pytest.approx((1 + 1 / 3.668) / 2, abs=1e-3)
    assert 0.5 < _capacity(128, 8.0) < _capacity(16, 8.0) < 1.0


def test_a_cache_four_times_as_large_misses_half_as_often_beside_what_always_does() -> None:
    assert _misses(64.0) == pytest.approx(0.4)
    assert _misses(256.0) == pytest.approx(0.05 + 0.175)


def test_the_spaces_are_legal_and_the_critical_path_is_a_part() -> None:
    whole, part = space(), critical_path()
    check_space(whole)
    check_space(part)
    assert {each.service for each in whole.parameters} == set(Laws.drawn(1).best)
    assert {each.name for each in part.parameters} < {each.name for each in whole.parameters}


def test_every_request_passes_nginx_and_parallel_calls_leave_one_on_the_path() -> None:
    found = paths(applied(space().default, Laws.drawn(1))[0])
    assert found["nginx"][0] == pytest.approx(1.0)
    assert "ads" not in found  # beside post-storage, which takes longer


def test_a_trial_is_the_same_each_time_and_settings_matter() -> None:
    laws, default = Laws.drawn(1), space().default
    once = measured(default, laws, 7, seconds=1.0)
    assert once == measured(default, laws, 7, seconds=1.0)
    assert once != measured({**default, "home-timeline.threads": 1}, laws, 7, seconds=1.0)


def test_the_table_has_the_best_first() -> None:
    runs = [Run("a", 3, 0.1, 0.5), Run("b", 3, 0.2, 0.001), Run("b", 3, 0.3, 0.003)]
    rows = table({"all services": runs}, 2).splitlines()[4:]
    assert rows == [
        "| all services | 3 | `b` | 25.0 % | 20.0 % | 30.0 % | 2 ms |",
        "| all services | 3 | `a` | 10.0 % | 10.0 % | 10.0 % | 500 ms |",
    ]
