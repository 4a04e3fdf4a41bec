from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.dqn.agent import AT_REST, MOST_CONDITIONS, Agent
from bench.dqn.condition import Condition
from bench.dqn.made_windows import chained, of_service
from bench.dqn.settings import SETTINGS
from bench.dqn.sizes import grid

SIZES = grid(1, 48)
CONDITION = Condition(cores=2.0, versions="v1")
SLO_S = 0.4


def watched(
    agent: Agent, course: list[tuple[int, int]], train: bool = True, at_s: int = 100, condition: Condition = CONDITION
) -> None:
    """course: (size, seconds), one after the other."""
    random = np.random.default_rng(7)
    parts = []
    for size, seconds in course:
        parts.append(of_service(size, seconds, at_s, random))
        at_s += seconds
    agent.take(chained(parts), SLO_S, condition)
    if train:
        agent.train()


def test_each_second_is_a_transition_and_so_is_each_window() -> None:
    for speed_up, count in ((False, 9), (True, 9 + 99)):
        agent = Agent(SIZES, 1, replace(SETTINGS, speed_up=speed_up, steps_ahead=1, repeats=1))
        watched(agent, [(12, 10)], train=False)
        assert len(agent.learner.replay) == agent.learner.owed == count


def test_windows_count_once_however_they_are_cut() -> None:
    whole, cut = Agent(SIZES, 1), Agent(SIZES, 1)
    windows = of_service(12, 10, 100, np.random.default_rng(7))
    whole.take(windows, SLO_S, CONDITION)
    for end_s in (103.5, 106, 110):
        cut.take(windows.take(windows.start_ms < 1000 * end_s), SLO_S, CONDITION)
    assert len(cut.learner.replay) == len(whole.learner.replay)
    assert cut.take(windows, SLO_S, CONDITION) == 0
    # The most that was seen grows, so that early rewards differ; actions and order do not.
    np.testing.assert_array_equal(np.sort(cut.learner.replay.rows[:, 10]), np.sort(whole.learner.replay.rows[:, 10]))


def test_the_best_of_the_sizes_that_were_tried_gets_the_highest_value_of_them() -> None:
    agent = Agent(SIZES, 1)
    watched(agent, [(4, 15), (12, 15), (42, 15)] * 2)
    values = dict(zip(SIZES.tolist(), agent.opinion().values, strict=True))
    assert max((4, 12, 42), key=lambda size: values[size]) == 12


def test_what_is_learnt_of_a_condition_is_left_alone_under_another_and_known_again() -> None:
    agent = Agent(SIZES, 1)
    watched(agent, [(4, 20), (12, 20)])
    first, theta = agent.learner, agent.learner.theta.copy()
    watched(agent, [(4, 20)], at_s=200, condition=replace(CONDITION, cores=4.0))
    assert agent.learner is not first
    assert len(agent.learner.replay) < 250
    np.testing.assert_array_equal(first.theta, theta)
    watched(agent, [(4, 3)], train=False, at_s=300)
    assert agent.learner is first
    np.testing.assert_array_equal(first.theta, theta)
    assert len(first.replay) > 400


def test_a_new_condition_begins_with_the_weights_of_the_one_before_and_an_empty_memory() -> None:
    agent = Agent(SIZES, 1)
    watched(agent, [(4, 20), (12, 20)])
    theta = agent.learner.theta.copy()
    watched(agent, [(4, 5)], train=False, at_s=200, condition=replace(CONDITION, cores=4.0))
    np.testing.assert_array_equal(agent.learner.theta, theta)
    assert (agent.learner.steps, len(agent.learner.replay)) == (0, 3 + 48)


def test_of_conditions_that_are_not_in_force_few_transitions_are_kept_and_the_oldest_condition_goes() -> None:
    agent = Agent(SIZES, 1)
    for i in range(MOST_CONDITIONS + 1):
        watched(agent, [(12, 120)], train=False, at_s=1_000 * (i + 1), condition=replace(CONDITION, cores=i + 1.0))
    assert list(agent.learners) == list(agent.highest_per_s) == [f"{i + 1} 0 v1" for i in range(1, MOST_CONDITIONS + 1)]
    assert [len(each.replay) for each in agent.learners.values()][:-1] == [AT_REST] * (MOST_CONDITIONS - 1)


def test_one_network_for_all_conditions_is_an_option() -> None:
    agent = Agent(SIZES, 1, replace(SETTINGS, apart=False))
    watched(agent, [(4, 20)])
    first = agent.learner
    watched(agent, [(4, 20)], at_s=200, condition=replace(CONDITION, cores=4.0))
    assert agent.learner is first
    assert len(agent.highest_per_s) == 2


def test_the_same_windows_and_seed_give_the_same_values() -> None:
    one, other = Agent(SIZES, 5), Agent(SIZES, 5)
    for agent in (one, other):
        watched(agent, [(4, 10), (12, 10)])
    np.testing.assert_array_equal(one.opinion().values, other.opinion().values)


@pytest.mark.parametrize("changes", [{"double": False}, {"steps_ahead": 1, "repeats": 1}, {"steps_ahead": 3}])
def test_each_option_learns(changes: dict[str, object]) -> None:
    agent = Agent(SIZES, 2, replace(SETTINGS, **changes))  # type: ignore[arg-type]
    watched(agent, [(4, 15), (12, 15)] * 2)
    values = dict(zip(SIZES.tolist(), agent.opinion().values, strict=True))
    assert values[12] > values[4]
