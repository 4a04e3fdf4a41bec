from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.dqn import session
from bench.dqn.convergence import first
from bench.dqn.ddpg import Ddpg
from bench.dqn.sizers import SIZERS, improvement
from bench.dqn.steps import BOUNDS, drive, guarded, smoothed
from bench.kept import asked_seeds
from bench.scenarios import scenario


def test_a_step_counts_where_the_mean_of_ten_is_as_high() -> None:
    rewards = [0.0] * 5 + [1.0] * 20
    assert smoothed(np.array(rewards))[14] == pytest.approx(1.0)
    assert first(rewards, 0.95) == 15
    assert first([0.5] * 30, 0.95) is None


def test_the_guard_lets_a_size_double_or_halve_within_its_bounds() -> None:
    assert [guarded(asked, 10) for asked in (1, 5, 12, 20, 50)] == [5, 5, 12, 20, 20]
    assert guarded(500, 150) == BOUNDS[1]
    assert guarded(0, 1) == BOUNDS[0]


def test_runs_that_are_done_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "FOLDER", tmp_path)
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
        session.runs("part", tasks, run)
    assert session.runs("part", tasks, run) == {("a", 1): 1, ("b", 2): 2}
    assert done == tasks


def test_parts_and_seeds_are_told_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_seeds((1, 2)) == (1, 2)
    assert session.parts(["a", "b"]) == ["a", "b"]
    monkeypatch.setenv("SEEDS", "4,5,11-13")
    monkeypatch.setenv("PARTS", "b")
    assert asked_seeds((1, 2)) == (4, 5, 11, 12, 13)
    assert session.parts(["a", "b"]) == ["b"]
    with pytest.raises(ValueError, match="'b' is not legal; legal: a"):
        session.parts(["a"])
    monkeypatch.setenv("SEEDS", "4,all")
    with pytest.raises(ValueError, match="SEEDS: 'all' is not legal; legal: 1,2,3 or 1-10"):
        asked_seeds((1, 2))


def test_improvement_is_expected_where_the_mean_is_high_or_unknown() -> None:
    found = improvement(np.array([0.9, 0.5, 0.5]), np.array([0.01, 0.01, 0.5]), 0.9)
    assert found[2] > found[0] > found[1]


def test_ddpg_learns_which_way_is_better() -> None:
    """Reward grows with the action; without its noise, what it names has grown."""
    random, state = np.random.default_rng(1), np.ones(3)
    ddpg = Ddpg(3, 1)
    before = np.mean([ddpg.act(state) for _ in range(50)])
    for _ in range(300):
        action = float(random.uniform(-1, 1))
        ddpg.learn(state, action, action, state)
    assert np.mean([ddpg.act(state) for _ in range(50)]) > before + 0.3


@pytest.mark.parametrize("name", SIZERS)
def test_each_sizes_a_pool_within_the_guard_and_again_the_same(name: str) -> None:
    runs = [drive(scenario("static_load"), lambda run: SIZERS[name](run, 3), 3, 64, 6) for _ in range(2)]
    assert runs[0] == runs[1]
    assert all(BOUNDS[0] <= step.size <= BOUNDS[1] for step in runs[0])
