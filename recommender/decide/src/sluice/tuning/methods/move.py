"""Moves in the unit cube that several methods share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sluice.tuning.space import Point, Space


def reflected(point: Point) -> Point:
    """Mirrors coordinates outside [0, 1] at the bound that they crossed. Those beyond the mirror's reach stay on that
    bound (Tolson and Shoemaker 2007, steps 4 and 5). Worked: -0.2 -> 0.2; 1.3 -> 0.7; -1.4 -> 0."""
    low = np.where(point < 0.0, np.where(-point > 1.0, 0.0, -point), point)
    return np.where(low > 1.0, np.where(2.0 - low < 0.0, 1.0, 2.0 - low), low)


def picked(dimensions: int, chance: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Picks each coordinate with this probability; one at random where it picked none."""
    chosen = generator.random(dimensions) < chance
    if not chosen.any():
        chosen[generator.integers(dimensions)] = True
    return chosen


def perturbed(
    space: Space, point: Point, chosen: NDArray[np.bool_], width: float, generator: np.random.Generator
) -> Point:
    """`point` with the chosen coordinates moved by a normal step of `width`, reflected.

    Discrete rounding: the step of an ordered parameter may end in its own cell. Then it goes to the next cell in the
    step's direction, away from a bound. A category or boolean has no next cell and takes another choice at random. So
    each chosen parameter changes.
    """
    steps = generator.normal(0.0, width, point.size)
    others = generator.random(point.size)
    moved = reflected(point + np.where(chosen, steps, 0.0))
    for index in np.flatnonzero(chosen):
        levels = space.parameters[index].kind.levels
        if levels is None or levels < 2:
            continue
        value = space.parameters[index].kind.value
        if not space.parameters[index].kind.ordered:
            cell = min(int(point[index] * levels), levels - 1)
            other = (cell + 1 + int(others[index] * (levels - 1))) % levels
            moved[index] = (other + 0.5) / levels
        elif value(float(moved[index])) == value(float(point[index])):
            moved[index] = _next(space, int(index), float(point[index]), up=bool(steps[index] > 0))
    return moved


def _next(space: Space, index: int, unit: float, up: bool) -> float:
    """The middle of the neighbouring cell; on the other side where there is none."""
    kind = space.parameters[index].kind
    at = kind.value(unit)
    for way in (1, -1) if up else (-1, 1):
        neighbour = int(at) + way
        if kind.takes(neighbour):
            return kind.unit(neighbour)
    return unit
