"""Validates a space: one line per problem, with the field, the value and the legal range."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.parameter import Boolean, Category, Float, Integer, Parameter, ValueKind
from sluice.tuning.space.space import Space

MOST_PARAMETERS = 200
MOST_CHOICES = 100
# Whole numbers up to this one are exact as a double. Some methods and readers of the API convert them to one.
LARGEST = 2**53


class SpaceError(ValueError):
    """The space is not legal; the message has one line per problem."""


def check_space(space: Space) -> None:
    """Raises SpaceError with every problem of the space."""
    problems = list(_problems(space))
    if problems:
        raise SpaceError("\n".join(problems))


def _problems(space: Space) -> Iterator[str]:
    if not 1 <= len(space.parameters) <= MOST_PARAMETERS:
        yield f"parameters: {len(space.parameters)} of them are not legal; legal: 1 to {MOST_PARAMETERS}"
    earlier: dict[str, Parameter] = {}
    sound = True
    for index, parameter in enumerate(space.parameters):
        problems = [*_name(parameter, earlier), *_range(parameter.kind)]
        problems = problems or [*_default(parameter), *_when(parameter, earlier)]
        sound = sound and not problems
        yield from (f"parameters[{index}].{problem}" for problem in problems)
        earlier.setdefault(parameter.name, parameter)
    for index, constraint in enumerate(space.constraints):
        problems = list(_constraint(constraint, earlier, space if sound else None))
        yield from (f"constraints[{index}]{problem}" for problem in problems)


def _name(parameter: Parameter, earlier: dict[str, Parameter]) -> Iterator[str]:
    if not parameter.name:
        yield "name: '' is not legal; legal: a name"
    elif parameter.name in earlier:
        yield f"name: {parameter.name!r} occurs twice; legal: a unique name"


def _range(kind: ValueKind) -> Iterator[str]:
    match kind:
        case Integer(low, high, log):
            if max(abs(low), abs(high)) > LARGEST:
                yield f"low, high: {low}, {high} are not legal; legal: -2^53 to 2^53"
            yield from _ends(low, high)
            if log and low < 1:
                yield f"low: {low} is not legal on a log scale; legal: >= 1"
        case Float(low, high, log):
            if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
                yield f"low, high: {low:g}, {high:g} are not legal; legal: finite, and so their distance"
            else:
                yield from _ends(low, high)
                if log and low <= 0:
                    yield f"low: {low:g} is not legal on a log scale; legal: > 0"
        case Category(choices):
            if not 2 <= len(choices) <= MOST_CHOICES:
                yield f"choices: {len(choices)} of them are not legal; legal: 2 to {MOST_CHOICES}"
            twice = sorted({choice for choice in choices if choices.count(choice) > 1})
            if twice:
                yield f"choices: {', '.join(twice)} occur twice; legal: each once"


def _ends(low: float, high: float) -> Iterator[str]:
    if low >= high:
        yield f"low: {low:g} is not below high: {high:g}; legal: low < high"


def _default(parameter: Parameter) -> Iterator[str]:
    if not parameter.kind.takes(parameter.default):
        yield f"default: {parameter.default!r} is not legal; legal: {parameter.kind.legal}"


def _when(parameter: Parameter, earlier: dict[str, Parameter]) -> Iterator[str]:
    when = parameter.when
    if when is None:
        return
    if when.parameter not in earlier:
        yield f"when.parameter: {when.parameter!r} is not legal; legal: a parameter declared before this one"
        return
    kind = earlier[when.parameter].kind
    if not isinstance(kind, Boolean | Category | Integer):
        yield f"when.parameter: {when.parameter!r} is continuous; legal: an integer, category or boolean"
        return
    if not when.values:
        yield "when.is: no value is not legal; legal: at least one"
    for value in when.values:
        if not kind.takes(value):
            yield f"when.is: {value!r} is not legal; legal: {kind.legal}"


def _constraint(constraint: Linear, parameters: dict[str, Parameter], sound: Space | None) -> Iterator[str]:
    if not constraint.factors:
        yield ".sum: no parameter is not legal; legal: at least one"
    if constraint.at_least is None and constraint.at_most is None:
        yield ": has no bound; legal: at_least, at_most or both"
    named = [name for name, _ in constraint.factors]
    for name in sorted({name for name in named if named.count(name) > 1}):
        yield f".sum.{name}: occurs twice; legal: once"
    wrong = False
    for bound, value in (("at_least", constraint.at_least), ("at_most", constraint.at_most)):
        if value is not None and not math.isfinite(value):
            yield f".{bound}: {value} is not legal; legal: finite"
            wrong = True
    for name, factor in constraint.factors:
        if name not in parameters:
            yield f".sum.{name}: unknown parameter; legal: one of `parameters`"
        elif not isinstance(parameters[name].kind, Integer | Float):
            yield f".sum.{name}: is not numeric; legal: an integer or float parameter"
        elif not math.isfinite(factor):
            yield f".sum.{name}: {factor} is not legal; legal: finite"
        else:
            continue
        wrong = True
    if wrong or sound is None or not constraint.factors:
        return
    least, most = constraint.reach(sound.kinds)
    if constraint.at_most is not None and not least <= constraint.at_most:
        yield f".at_most: {constraint.at_most:g} holds for no configuration; legal: >= {least:g}"
    elif constraint.at_least is not None and not most >= constraint.at_least:
        yield f".at_least: {constraint.at_least:g} holds for no configuration; legal: <= {most:g}"
    elif not constraint.holds(sound.default):
        yield f": {constraint} does not hold for the defaults; legal: defaults that satisfy it"
