"""The search space of an application: its parameters and constraints.

A configuration maps the names of the parameters that have a value to their values. A point is its place in the unit
cube: an array of shape (parameters,), in their order. The coordinate of a parameter without a value is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.parameter import Parameter, Value, ValueKind

Configuration: TypeAlias = Mapping[str, Value]
Point: TypeAlias = NDArray[np.float64]

# The number of steps from a point that breaks a constraint to the default, which breaks none.
_BACK = 32


@dataclass(frozen=True)
class Space:
    """The methods require a legal space: check user input with `check.check_space` first."""

    parameters: tuple[Parameter, ...]
    constraints: tuple[Linear, ...] = ()

    @cached_property
    def kinds(self) -> dict[str, ValueKind]:
        return {parameter.name: parameter.kind for parameter in self.parameters}

    @cached_property
    def default(self) -> Configuration:
        return self._active({parameter.name: parameter.default for parameter in self.parameters})

    @cached_property
    def default_point(self) -> Point:
        return np.array([parameter.kind.unit(parameter.default) for parameter in self.parameters])

    def configuration(self, point: Point) -> Configuration:
        """The configuration at a point. It may break a constraint: see `repaired`."""
        clipped = np.clip(point, 0.0, 1.0)
        return self._active(
            {
                parameter.name: parameter.kind.value(float(unit))
                for parameter, unit in zip(self.parameters, clipped, strict=True)
            }
        )

    def point(self, configuration: Configuration) -> Point:
        """The middle of the configuration's cell; for a parameter without a value, that of its default."""
        return np.array(
            [
                parameter.kind.unit(configuration.get(parameter.name, parameter.default))
                for parameter in self.parameters
            ],
            dtype=np.float64,
        )

    def snapped(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """`point(configuration(p))` for each row of (n, parameters): points of one configuration become equal."""
        snapped = np.empty_like(points)
        active: dict[str, NDArray[np.bool_]] = {}
        for index, parameter in enumerate(self.parameters):
            column = parameter.kind.snapped(np.clip(points[:, index], 0.0, 1.0))
            active[parameter.name] = np.ones(len(points), dtype=np.bool_)
            if parameter.when is not None:
                place = next(at for at, other in enumerate(self.parameters) if other.name == parameter.when.parameter)
                units = [self.kinds[parameter.when.parameter].unit(value) for value in parameter.when.values]
                holds = np.isclose(snapped[:, place, None], units, rtol=0.0, atol=1e-9).any(axis=1)
                active[parameter.name] = active[parameter.when.parameter] & holds
            snapped[:, index] = np.where(active[parameter.name], column, parameter.kind.unit(parameter.default))
        return snapped

    def broken(self, configuration: Configuration) -> tuple[Linear, ...]:
        return tuple(constraint for constraint in self.constraints if not constraint.holds(configuration))

    def repaired(self, point: Point) -> Point:
        """The point, or the first on the line from it to the default's whose configuration breaks no constraint."""
        for share in np.linspace(1.0, 0.0, _BACK + 1):
            at = self.default_point + share * (point - self.default_point)
            if not self.broken(self.configuration(at)):
                return np.asarray(at, dtype=np.float64)
        return self.default_point

    def problems(self, configuration: Configuration) -> list[str]:
        """The problems of a configuration, a line each: field, value, legal range."""
        problems = [f"{name}: unknown parameter" for name in configuration if name not in self.kinds]
        for parameter in self.parameters:
            if parameter.name in configuration and not parameter.kind.takes(configuration[parameter.name]):
                problems.append(
                    f"{parameter.name}: {configuration[parameter.name]!r} is not legal; legal: {parameter.kind.legal}"
                )
        if problems:
            return problems
        active = self._active({name: configuration.get(name, value) for name, value in self._defaults.items()})
        for name in active.keys() - configuration.keys():
            problems.append(f"{name}: is missing; legal: {self.kinds[name].legal}")
        for name in configuration.keys() - active.keys():
            problems.append(f"{name}: has no value here; legal: where {self._named[name].when}")
        return sorted(problems) + [
            f"constraint {constraint} does not hold" for constraint in self.broken(configuration)
        ]

    def without(self, names: frozenset[str]) -> Space:
        """The same space with these parameters fixed at their defaults, and with them those that lose their value."""
        kept: list[Parameter] = []
        for parameter in self.parameters:
            fixed = parameter.when is not None and parameter.when.parameter not in {other.name for other in kept}
            if parameter.name not in names and (not fixed or parameter.name in self.default):
                kept.append(replace(parameter, when=None) if fixed else parameter)
        left = {constraint.name for constraint in kept}
        constraints = (_fixed(constraint, left, self.default) for constraint in self.constraints)
        return Space(tuple(kept), tuple(constraint for constraint in constraints if constraint is not None))

    @cached_property
    def _named(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    @cached_property
    def _defaults(self) -> dict[str, Value]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def _active(self, values: dict[str, Value]) -> dict[str, Value]:
        """Only the values of parameters whose `when` holds. The parameter that a `when` names comes earlier."""
        active: dict[str, Value] = {}
        for parameter in self.parameters:
            when = parameter.when
            if when is None or (when.parameter in active and active[when.parameter] in when.values):
                active[parameter.name] = values[parameter.name]
        return active


def _fixed(constraint: Linear, left: set[str], default: Configuration) -> Linear | None:
    """The constraint on the remaining parameters; None where it no longer applies to any."""
    gone = [(name, factor) for name, factor in constraint.factors if name not in left]
    factors = tuple((name, factor) for name, factor in constraint.factors if name in left)
    if not factors or any(name not in default for name, _ in gone):
        return None
    fixed = sum(factor * float(default[name]) for name, factor in gone)
    least = None if constraint.at_least is None else constraint.at_least - fixed
    return Linear(factors, least, None if constraint.at_most is None else constraint.at_most - fixed)
