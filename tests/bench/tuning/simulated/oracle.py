"""The best configuration of a world, by a long search on the noiseless laws.

From the default and from random points at the same time, each parameter in turn goes to the best of its levels, until
none changes. Then copies of the best do the same, half with some parameters and half with all of one reader, its cache
and its store at random levels. At last all integers are tried.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.tuning.simulated.laws import Flow
from bench.tuning.simulated.world import World
from sluice.tuning.space import Boolean, Category, Configuration, Integer, Space
from sluice.tuning.space.parameter import Parameter, Value

STARTS, LEVELS, SWEEPS, ROUNDS = 12, 17, 12, 2
Levels = Mapping[str, np.ndarray]


def best(world: World, space: Space | None = None, seed: int = 0, rounds: int = ROUNDS) -> tuple[float, Configuration]:
    """The least p95 (ms) and its configuration. `space`: of the world's parameters, the others at their defaults."""
    space, rng = space or world.space, np.random.default_rng(seed)
    coarse = {parameter.name: _levels(parameter, LEVELS) for parameter in space.parameters}
    default = {parameter.name: _number(parameter, parameter.default) for parameter in world.space.parameters}
    at = {name: np.full(STARTS, number) for name, number in default.items()}
    for name, levels in coarse.items():
        at[name][1:] = rng.choice(levels, STARTS - 1)
    for _ in range(1 + rounds):
        values = _swept(world, coarse, at)
        winner = {name: numbers[values.argmin()] for name, numbers in at.items()}
        at = {name: np.full(STARTS, number) for name, number in winner.items()}
        for row in range(1, STARTS):
            reader = world.readers[rng.integers(len(world.readers))]
            together = {reader.name, reader.cache, reader.store}
            some = rng.choice(list(coarse), min(1 + row, len(coarse)), replace=False)
            for name in [name for name in coarse if name.partition(".")[0] in together] if row % 2 else some:
                at[name][row] = rng.choice(coarse[name])
    at = {name: np.full(1, number) for name, number in winner.items()}
    value = _swept(world, {parameter.name: _levels(parameter) for parameter in space.parameters}, at)[0]
    return float(value), {parameter.name: _value(parameter, at[parameter.name][0]) for parameter in space.parameters}


def _swept(world: World, levels: Levels, at: dict[str, np.ndarray]) -> np.ndarray:
    """Changes `at`, a number a start; gives p95 in ms of each start."""
    values = Flow(world, at).p95_ms() * np.ones(len(next(iter(at.values()))))
    for _ in range(SWEEPS):
        before = values
        for name, tried in levels.items():
            many = {other: np.repeat(numbers, len(tried)) for other, numbers in at.items()}
            many[name] = np.tile(tried, len(values))
            results = Flow(world, many).p95_ms().reshape(len(values), len(tried))
            better = results.min(axis=1) < values
            at[name] = np.where(better, tried[results.argmin(axis=1)], at[name])
            values = np.where(better, results.min(axis=1), values)
        if (values == before).all():
            break
    return values


def _levels(parameter: Parameter, most: int | None = None) -> np.ndarray:
    """All values as numbers, or `most` of an integer's, of equal ratio."""
    kind = parameter.kind
    if not isinstance(kind, Integer):
        return np.arange(float(kind.levels or 0))
    if most is None or kind.levels <= most:
        return np.arange(kind.low, kind.high + 1.0)
    return np.unique(np.rint(np.geomspace(kind.low, kind.high, most)))


def _number(parameter: Parameter, value: Value) -> float:
    return float(parameter.kind.choices.index(str(value)) if isinstance(parameter.kind, Category) else value)


def _value(parameter: Parameter, number: float) -> Value:
    match parameter.kind:
        case Category(choices):
            return choices[int(number)]
        case Boolean():
            return bool(number)
    return int(number)
