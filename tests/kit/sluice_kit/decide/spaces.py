"""Spaces for tests: one of every kind, and any legal one."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from sluice.tuning.space import Boolean, Category, Configuration, Float, Integer, Parameter, Requirement, Space
from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.parameter import ValueKind

# As of a small application: a pool, its spare threads, a cache, an execution model and what only one of its kinds has.
MIXED = Space(
    (
        Parameter("threads", Integer(1, 256, log=True), 64, "web"),
        Parameter("spare", Integer(1, 16), 1, "web"),
        Parameter("model", Category(("pooled", "synchronous", "adaptive")), "pooled", "db"),
        Parameter("reuse", Boolean(), False, "db"),
        Parameter("cache_mb", Float(1.0, 1000.0, log=True), 10.0, "cache"),
        Parameter("window", Integer(0, 100), 50, "db", Requirement("model", ("synchronous", "adaptive"))),
    ),
    (Linear((("spare", 1.0), ("threads", -1.0)), at_most=0.0),),
)


def mixed_loss(configuration: Configuration) -> float:
    """0 at threads 12, spare 9, model synchronous, reuse, cache 200, window 20; about 5.8 at the default."""
    window = abs(float(configuration["window"]) - 20) / 50 if "window" in configuration else 0.6
    return (
        abs(math.log(float(configuration["threads"]) / 12))
        + abs(float(configuration["spare"]) - 9) / 8
        + {"pooled": 1.0, "synchronous": 0.0, "adaptive": 0.5}[str(configuration["model"])]
        + (0.0 if configuration["reuse"] else 0.5)
        + abs(math.log(float(configuration["cache_mb"]) / 200)) / 3
        + window
    )


def sphere(dimensions: int, default: float = 0.8) -> Space:
    """Floats in [0, 1]."""
    return Space(tuple(Parameter(f"x{index}", Float(0.0, 1.0), default) for index in range(dimensions)))


@st.composite
def kinds(draw: st.DrawFn) -> ValueKind:
    match draw(st.sampled_from(("integer", "float", "category", "boolean"))):
        case "integer":
            log = draw(st.booleans())
            lowest = draw(st.integers(1 if log else -1000, 1000))
            return Integer(lowest, lowest + draw(st.integers(1, 100_000)), log)
        case "float":
            log = draw(st.booleans())
            low = draw(st.floats(0.001 if log else -1000.0, 1000.0))
            return Float(low, low + draw(st.floats(0.5, 1e6)), log)
        case "category":
            return Category(tuple(draw(st.lists(st.sampled_from("abcdefgh"), min_size=2, unique=True))))
        case _:
            return Boolean()


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Any legal space: one to six parameters, some with a condition, perhaps a constraint that the defaults hold."""
    parameters: list[Parameter] = []
    for index in range(draw(st.integers(1, 6))):
        kind = draw(kinds())
        default = kind.value(draw(st.floats(0.0, 1.0)))
        single = [parameter for parameter in parameters if not isinstance(parameter.kind, Float)]
        when = None
        if bool(single) and draw(st.booleans()):
            other = draw(st.sampled_from(single))
            values = {other.kind.value(draw(st.floats(0.0, 1.0))) for _ in range(2)}
            when = Requirement(other.name, tuple(values))
        parameters.append(Parameter(f"p{index}", kind, default, f"s{index % 3}", when))
    numbers = [parameter for parameter in parameters if isinstance(parameter.kind, Integer | Float)]
    constraints = []
    if bool(numbers) and draw(st.booleans()):
        chosen = draw(
            st.lists(st.sampled_from(numbers), min_size=1, max_size=3, unique_by=lambda parameter: parameter.name)
        )
        factors = tuple((parameter.name, draw(st.sampled_from((1.0, -1.0, 2.5)))) for parameter in chosen)
        total = sum(factor * float(parameter.default) for (_, factor), parameter in zip(factors, chosen, strict=True))
        constraints.append(Linear(factors, at_most=total + draw(st.floats(0.0, 100.0))))
    return Space(tuple(parameters), tuple(constraints))
