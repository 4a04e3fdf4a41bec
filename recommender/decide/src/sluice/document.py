"""Reads a YAML document into a model. Each problem names file, key, value and legal range."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from sluice.model.durations import format_ms


class Strict(BaseModel):
    """The base of all sections. It refuses unknown keys and values of another type; its values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ConfigError(Exception):
    """The file is not usable. The message has one line per problem."""


Model = TypeVar("Model", bound=BaseModel)

# `<<: *anchor` (yaml.org/type/merge): keys from the anchor may be overridden.
_MERGE = "tag:yaml.org,2002:merge"


class _UniqueKeys(yaml.SafeLoader):
    """A YAML loader that refuses a repeated key in a mapping, instead of overriding the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is defined twice", key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


def parse_as(model: type[Model], text: str, name: str, keys: str) -> Model:
    """YAML as a model. Raises ConfigError when it cannot be parsed or is not legal. `keys`: its top-level keys."""
    try:
        document = yaml.load(text, _UniqueKeys)  # a SafeLoader
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as cause:
        # Not only YAML's own errors: a list as a key, 2026-13-01 and `!!int x` raise Python's errors.
        raise ConfigError(f"parse {name}: {_where(cause)}") from cause
    if document is None:
        document = {}  # an empty file has all keys by default
    if not isinstance(document, dict):
        raise ConfigError(f"{name}: must be a mapping with the keys {keys}")
    try:
        return model.model_validate(document)
    except ValidationError as cause:
        # A default that follows from a field that is not legal: that field has its own error.
        errors = [error for error in cause.errors() if error["type"] != "default_factory_not_called"]
        raise ConfigError("\n".join(f"{name}: {_line(error, document)}" for error in errors)) from cause


def _where(cause: Exception) -> str:
    """On one line, since each line is a problem of its own."""
    if isinstance(cause, yaml.MarkedYAMLError) and cause.problem and (mark := cause.problem_mark):
        return f"line {mark.line + 1}, column {mark.column + 1}: {cause.problem}"
    return " ".join(str(cause).split())


def _line(error: ErrorDetails, document: object) -> str:
    keys = [part for part in error["loc"] if not str(part).startswith("~")]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in keys).lstrip(".")
    value = _as_written(document, keys, error)
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: unknown key"
        case "missing":
            return f"{path}: is missing"
        case "value_error" if isinstance(value, dict) or not path:
            detail = error["msg"].removeprefix("Value error, ")
            return f"{path}: {detail}" if path else detail
        case _:
            return f"{path}: {value!r} {_legal(error, value)}"


def _as_written(document: Any, keys: list[int | str], error: ErrorDetails) -> object:
    """The value as the file has it: pydantic quotes a duration after its conversion to milliseconds."""
    try:
        for part in keys:
            document = document[part]
    except (KeyError, IndexError, TypeError):
        return error["input"]
    return document


def _legal(error: ErrorDetails, value: object) -> str:
    limits = error.get("ctx", {})
    unit = format_ms if isinstance(value, str) else str
    match error["type"]:
        case "greater_than":
            return f"is not legal; legal: > {unit(limits['gt'])}"
        case "greater_than_equal":
            return f"is not legal; legal: >= {unit(limits['ge'])}"
        case "less_than_equal":
            return f"is not legal; legal: <= {unit(limits['le'])}"
        case "literal_error":
            return f"is not legal; legal: {limits['expected']}"
        case "value_error":
            return error["msg"].removeprefix("Value error, ")
        case _:
            return f"is not legal: {error['msg']}"
