from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.dqn.sizers import Dqn, improvement
from bench.dqn.steps import BOUNDS, drive, first, guarded, smoothed
from bench.run_files import requested_seeds, runs
from bench.scenarios import scenario


def test_a_step_counts_where_the_mean_of_ten_is_as_high() -> None:
    rewards = [0.0] * 5 + [1.0] * 20
    assert smoothed(np.array(rewards))[14] == pytest.approx(1.0)
    assert first(rewards, 0.95) == 15
    assert first([0.5] * 30, 0.95) is None


def test_the_guard_lets_a_size_double_or_halve_within_its_bounds() -> None:
    assert [guarded(item, 10) for item in (1, 5, 12, 20, 50)] == [5, 5, 12, 20, 20]
    assert guarded(500, 150) == BOUNDS[1]
    assert guarded(0, 1) == BOUNDS[0]


def test_runs_that_are_done_are_not_run_again(tmp_path: Path) -> None:
    done: list[tuple[str, int]] = []
    stopped = False

    def run(task: tuple[str, int]) -> int:
        nonlocal stopped
        if task == ("b", 2) and not stopped:
            stopped = True
            raise KeyboardInterrupt
        done.append(task)
        return task[1]

    tasks = [("a", 1), ("b", 2)]
    with pytest.raises(KeyboardInterrupt):
        runs(tmp_path, tasks, run)
    assert runs(tmp_path, tasks, run) == {("a", 1): 1, ("b", 2): 2}
    assert done == tasks


def test_seeds_are_given_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert requested_seeds((1, 2)) == (1, 2)
    monkeypatch.setenv("SEEDS", "4,5,11-13")
    assert requested_seeds((1, 2)) == (4, 5, 11, 12, 13)
    monkeypatch.setenv("SEEDS", "4,all")
    with pytest.raises(ValueError, match="SEEDS: 'all' is not legal; legal: 1,2,3 or 1-10"):
        requested_seeds((1, 2))


def test_the_agent_sizes_a_pool_within_the_guard_and_again_the_same() -> None:
    runs = [drive(scenario("static_load"), lambda run: Dqn(run, 3), 3, 64, 6) for _ in range(2)]
    assert runs[0] == runs[1]
    assert all(BOUNDS[0] <= step.size <= BOUNDS[1] for step in runs[0])


def test_expected_improvement_where_the_mean_is_the_best_is_phi_of_zero() -> None:
    np.testing.assert_allclose(improvement(np.array([0.7, -2.3]), np.ones(2), 0.7), [0.3989, 0.0004], atol=1e-4)
