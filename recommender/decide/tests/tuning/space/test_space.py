"""Configurations and points: numbers by hand, and what holds for every legal space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tuning.space import Boolean, Category, Float, Integer, Parameter, Requirement, Space
from sluice.tuning.space.check import SpaceError, check_space
from sluice.tuning.space.constraint import Linear
from sluice_kit.decide.spaces import MIXED, spaces

POINTS = st.lists(st.floats(-0.5, 1.5), min_size=6, max_size=6)


@pytest.mark.parametrize(
    ("kind", "unit", "value"),
    [
        (Integer(1, 4), 0.30, 2),  # cells of a quarter
        (Integer(1, 4), 1.0, 4),
        (Integer(1, 100, log=True), 0.5, 7),  # sqrt(0.5 * 100.5) = 7.09
        (Integer(1, 100, log=True), 0.0, 1),
        (Float(10.0, 1000.0, log=True), 0.5, 100.0),
        (Float(-1.0, 3.0), 0.25, 0.0),
        (Category(("a", "b", "c")), 0.34, "b"),
        (Boolean(), 0.5, True),
    ],
)
def test_what_a_coordinate_means(kind: Integer | Float | Category | Boolean, unit: float, value: object) -> None:
    assert kind.value(unit) == pytest.approx(value) if isinstance(value, float) else kind.value(unit) == value


def test_a_parameter_whose_condition_does_not_hold_has_no_value() -> None:
    assert "window" not in MIXED.default
    assert MIXED.configuration(MIXED.point({**MIXED.default, "model": "adaptive", "window": 7}))["window"] == 7


def test_what_is_not_legal_in_a_configuration_is_named() -> None:
    legal = dict(MIXED.default)
    assert MIXED.problems(legal) == []
    assert MIXED.problems({**legal, "threads": 0}) == ["threads: 0 is not legal; legal: 1 to 256, whole"]
    assert MIXED.problems({**legal, "reuse": 1}) == ["reuse: 1 is not legal; legal: true, false"]
    assert MIXED.problems({**legal, "colour": 1}) == ["colour: unknown parameter"]
    assert MIXED.problems({**legal, "model": "adaptive"}) == ["window: is missing; legal: 0 to 100, whole"]
    assert MIXED.problems({**legal, "window": 3}) == [
        "window: has no value here; legal: where model is synchronous or adaptive"
    ]
    assert MIXED.problems({**legal, "spare": 9, "threads": 8}) == ["constraint spare + -1 threads <= 0 does not hold"]
    assert MIXED.problems({**legal, "cache_mb": float("nan")}) == ["cache_mb: nan is not legal; legal: 1 to 1000"]


def test_a_constraint_on_a_parameter_without_a_value_does_not_bind() -> None:
    bound = Space(MIXED.parameters, (Linear((("window", 1.0),), at_most=10.0),))
    check_space(bound)  # the default of `window` is 50, but by default it has no value
    assert bound.broken({**MIXED.default, "model": "adaptive", "window": 11})


def test_parameters_left_out_stay_at_their_defaults() -> None:
    without = MIXED.without(frozenset({"threads", "model"}))
    # `model` stays pooled: `window` has no value any more. spare - 64 <= 0 is left of the constraint.
    assert [parameter.name for parameter in without.parameters] == ["spare", "reuse", "cache_mb"]
    assert without.constraints == (Linear((("spare", 1.0),), at_most=64.0),)
    kept = Space(
        (
            Parameter("model", Category(("a", "b")), "b"),
            Parameter("depth", Integer(1, 9), 3, when=Requirement("model", ("b",))),
        )
    ).without(frozenset({"model"}))
    assert kept.parameters == (Parameter("depth", Integer(1, 9), 3),)


def test_a_point_that_breaks_a_constraint_goes_towards_the_default() -> None:
    point = MIXED.point({**MIXED.default, "threads": 2, "spare": 16})
    assert MIXED.broken(MIXED.configuration(point))
    repaired = MIXED.configuration(MIXED.repaired(point))
    assert not MIXED.broken(repaired)
    assert int(repaired["threads"]) < 64  # no further than needed


@given(spaces(), POINTS)
def test_every_point_becomes_a_legal_configuration(space: Space, point: list[float]) -> None:
    check_space(space)
    at = np.array(point[: len(space.parameters)])
    configuration = space.configuration(space.repaired(at))
    assert space.problems(configuration) == []
    assert space.problems(space.default) == []


@given(spaces(), POINTS)
def test_a_configuration_is_at_its_own_point(space: Space, point: list[float]) -> None:
    at = np.clip(np.array(point[: len(space.parameters)]), 0.0, 1.0)
    configuration = space.configuration(at)
    again = space.configuration(space.point(configuration))
    assert {name: pytest.approx(value) for name, value in configuration.items() if isinstance(value, float)} == {
        name: value for name, value in again.items() if isinstance(value, float)
    }
    for name, value in configuration.items():
        assert isinstance(value, float) or again[name] == value
    np.testing.assert_allclose(space.snapped(at[None])[0], space.point(configuration), atol=1e-9)


@given(spaces(), st.sets(st.sampled_from([f"p{index}" for index in range(6)])))
def test_a_space_with_less_is_legal_and_its_default_is_part_of_the_whole_ones(space: Space, names: set[str]) -> None:
    less = space.without(frozenset(names))
    if less.parameters:
        check_space(less)
    assert less.default.items() <= space.default.items()


def test_no_parameter_at_all_is_an_error() -> None:
    with pytest.raises(SpaceError, match="legal: 1 to 200"):
        check_space(Space(()))
