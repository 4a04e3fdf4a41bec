"""Converts spaces to and from messages (proto/sluice/tuning/v1/space.proto), without loss. It does not check values
that a message can express: see `check.check_space` and `Space.problems`."""

from __future__ import annotations

from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.parameter import Boolean, Category, Float, Integer, Parameter, Requirement, Value, ValueKind
from sluice.tuning.space.space import Configuration, Space
from sluice.tuning.v1 import space_pb2


class AbsentError(ValueError):
    """A field that a message must have is missing; the error names it."""


def write_space(space: Space) -> space_pb2.Space:
    return space_pb2.Space(
        parameters=map(_parameter_message, space.parameters),
        constraints=map(_constraint_message, space.constraints),
    )


def read_space(message: space_pb2.Space) -> Space:
    """AbsentError for a parameter without a kind or default."""
    return Space(
        tuple(_parameter(parameter, f"parameters[{index}]") for index, parameter in enumerate(message.parameters)),
        tuple(map(_constraint, message.constraints)),
    )


def write_configuration(configuration: Configuration, space: Space) -> space_pb2.Configuration:
    """In the order of the space; parameters outside the space come last."""
    names = [parameter.name for parameter in space.parameters if parameter.name in configuration]
    names += [name for name in configuration if name not in space.kinds]
    setting = space_pb2.Configuration.Setting
    return space_pb2.Configuration(
        settings=[setting(parameter=name, value=write_value(configuration[name])) for name in names]
    )


def read_configuration(message: space_pb2.Configuration, where: str) -> dict[str, Value]:
    """AbsentError for a setting without a value, or a parameter that is set twice."""
    configuration: dict[str, Value] = {}
    for setting in message.settings:
        if setting.parameter in configuration:
            raise AbsentError(f"{where}.{setting.parameter}: occurs twice; legal: once")
        configuration[setting.parameter] = _value(setting.value, f"{where}.{setting.parameter}")
    return configuration


def write_value(value: Value) -> space_pb2.Value:
    match value:
        case bool():
            return space_pb2.Value(flag=value)
        case int():
            return space_pb2.Value(integer=value)
        case float():
            return space_pb2.Value(number=value)
        case str():
            return space_pb2.Value(choice=value)


def _value(message: space_pb2.Value, where: str) -> Value:
    match message.WhichOneof("kind"):
        case "integer":
            return message.integer
        case "number":
            return message.number
        case "choice":
            return message.choice
        case "flag":
            return message.flag
        case None:
            raise AbsentError(f"{where}: is missing; legal: integer, number, choice or flag")


def _parameter_message(parameter: Parameter) -> space_pb2.Parameter:
    kinds = space_pb2.Parameter
    message = kinds(name=parameter.name, service=parameter.service, default_value=write_value(parameter.default))
    match parameter.kind:
        case Integer(low, high, log):
            message.integer.CopyFrom(kinds.Integer(low=low, high=high, log=log))
        case Float(low_, high_, log):
            message.float.CopyFrom(kinds.Float(low=low_, high=high_, log=log))
        case Category(choices):
            message.category.CopyFrom(kinds.Category(choices=choices))
        case _:
            message.boolean.CopyFrom(kinds.Boolean())
    if parameter.when is not None:
        values = map(write_value, parameter.when.values)
        message.when.CopyFrom(kinds.Condition(parameter=parameter.when.parameter, values=values))
    return message


def _parameter(message: space_pb2.Parameter, where: str) -> Parameter:
    when = None
    if message.HasField("when"):
        values = tuple(_value(value, f"{where}.when.values") for value in message.when.values)
        when = Requirement(message.when.parameter, values)
    kind = _kind(message, where)
    default = _value(message.default_value, f"{where}.default")
    if isinstance(kind, Float) and isinstance(default, int) and not isinstance(default, bool):
        default = float(default)
    return Parameter(message.name, kind, default, message.service, when)


def _kind(message: space_pb2.Parameter, where: str) -> ValueKind:
    match message.WhichOneof("kind"):
        case "integer":
            return Integer(message.integer.low, message.integer.high, message.integer.log)
        case "float":
            return Float(message.float.low, message.float.high, message.float.log)
        case "category":
            return Category(tuple(message.category.choices))
        case "boolean":
            return Boolean()
        case None:
            raise AbsentError(f"{where}.kind: is missing; legal: integer, float, category or boolean")


def _constraint_message(constraint: Linear) -> space_pb2.LinearConstraint:
    term = space_pb2.LinearConstraint.Term
    terms = [term(parameter=name, factor=factor) for name, factor in constraint.factors]
    return space_pb2.LinearConstraint(terms=terms, at_least=constraint.at_least, at_most=constraint.at_most)


def _constraint(message: space_pb2.LinearConstraint) -> Linear:
    return Linear(
        tuple((term.parameter, term.factor) for term in message.terms),
        message.at_least if message.HasField("at_least") else None,
        message.at_most if message.HasField("at_most") else None,
    )
