"""What every method has to hold, on spaces of every kind."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.tuning.methods.methods import METHODS, ask, method
from sluice.tuning.methods.question import Question, Tried
from sluice.tuning.space import Boolean, Float, Integer, Parameter, Space
from sluice_kit.decide.spaces import MIXED, mixed_loss, spaces

from .contract import search

ALL = sorted(METHODS)


@pytest.mark.parametrize("name", ALL)
def test_all_that_is_asked_for_is_legal_and_new(name: str) -> None:
    trials = search(name, MIXED, mixed_loss, budget=9, seed=1)
    assert [problem for _, configuration in trials for problem in MIXED.problems(configuration)] == []
    assert len({tuple(sorted(configuration.items())) for _, configuration in trials}) == 10


@pytest.mark.parametrize("name", ALL)
def test_the_record_of_trials_is_all_of_its_state(name: str) -> None:
    """A process that was killed asks the same question again, and gets the same answer; so does one asked twice."""
    trials = search(name, MIXED, mixed_loss, budget=9, seed=2)
    for number in (3, 9):
        reported = tuple(trial for trial, _ in trials[:number])
        _, configuration = ask(name, Question(MIXED, 2, 9, number, reported))
        assert configuration == trials[number][1]
        assert ask(name, Question(MIXED, 3, 9, number, reported))[1] != configuration  # another seed


@pytest.mark.parametrize("name", ALL)
def test_several_trials_in_flight_differ(name: str) -> None:
    trials = search(name, MIXED, mixed_loss, budget=9, seed=3, in_flight=4)
    assert len({tuple(sorted(configuration.items())) for _, configuration in trials}) == 10


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("loss", [0.0, 1e300, -1e-300])
def test_losses_that_are_all_alike_or_huge_are_losses(name: str, loss: float) -> None:
    """No warning either: an overflow within would make the next proposal arbitrary."""
    reported = tuple(Tried(number, MIXED.default_point + number / 100, loss) for number in range(8))
    _, configuration = ask(name, Question(MIXED, 4, 12, 8, reported))
    assert MIXED.problems(configuration) == []


@pytest.mark.parametrize("name", ALL)
def test_one_parameter_and_a_budget_of_one(name: str) -> None:
    space = Space((Parameter("size", Integer(1, 9), 5),))
    for number, told in ((1, ()), (1, (Tried(0, space.default_point, 1.0),))):
        _, configuration = ask(name, Question(space, 5, 1, number, told))
        assert space.problems(configuration) == []


@pytest.mark.parametrize("name", ALL)
def test_when_all_was_tried_something_is_tried_again(name: str) -> None:
    space = Space((Parameter("a", Boolean(), False), Parameter("b", Boolean(), False)))
    trials = search(name, space, lambda each: float(each["a"]) + float(each["b"]), budget=5, seed=6)
    assert len({tuple(configuration.items()) for _, configuration in trials[:4]}) == 4
    assert len(trials) == 6


@given(spaces(), st.sampled_from(sorted(set(ALL) - {"random_forest", "boosted_trees", "gaussian_process"})))
@settings(max_examples=60)
def test_any_space_gets_legal_configurations(space: Space, name: str) -> None:
    trials = search(name, space, lambda each: float(len(str(each)) % 7), budget=7, seed=1, in_flight=2)
    assert [problem for _, configuration in trials for problem in space.problems(configuration)] == []


@pytest.mark.parametrize("name", ["random_forest", "boosted_trees", "gaussian_process"])
def test_models_get_legal_configurations_too(name: str) -> None:
    """Of which an example takes a second: one space, with few values, many, and a range of 2^53."""
    wide = Space(
        (*MIXED.parameters, Parameter("wide", Integer(-(2**52), 2**52), 0), Parameter("two", Integer(0, 1), 1))
    )
    trials = search(name, wide, mixed_loss, budget=6, seed=1, in_flight=2)
    assert [problem for _, configuration in trials for problem in wide.problems(configuration)] == []


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(KeyError):
        method("simulated")


def test_chance_is_of_seed_number_purpose_and_attempt() -> None:
    question = Question(Space((Parameter("x", Float(0, 1), 0.5),)), 1, 10, 3)
    drawn = [
        question.generator().random(),
        question.again().generator().random(),
        replace(question, number=4).generator().random(),
        replace(question, seed=2).generator().random(),
        question.generator(purpose=1).random(),
    ]
    assert len(set(drawn)) == 5
    assert question.generator().random() == drawn[0]
    # Of an earlier trial, whatever the attempt at this one.
    assert question.again().generator(2).random() == question.generator(2).random()
    assert np.isfinite(drawn).all()
