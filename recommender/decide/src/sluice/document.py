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

# A few lines with aliases of aliases would make billions of values. So many are read, and so many times what is
# written out.
MOST_VALUES, TIMES_WRITTEN = 100_000, 20
# Characters of a problem, which quotes the value at fault.
MOST_OF_A_PROBLEM = 2_000

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

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        _check_size(node)
        return self.construct_document(node)


def _check_size(document: yaml.Node) -> None:
    written: dict[int, int] = {}
    values, most = _size(document, written), max(MOST_VALUES, TIMES_WRITTEN * len(written))
    if values > most:
        why = f"with its aliases it has {values:,} values, more than {most:,}"
        raise yaml.constructor.ConstructorError(None, None, why, document.start_mark)


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of values, each alias counted as what it stands for. known: sizes by the id of a node; 0: not yet."""
    if id(node) not in known:
        known[id(node)] = 0
        parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        children = parts if isinstance(node, yaml.CollectionNode) else []
        known[id(node)] = 1 + sum(_size(child, known) for child in children)
    elif known[id(node)] == 0:
        raise yaml.constructor.ConstructorError(None, None, "an alias stands within its own anchor", node.start_mark)
    return known[id(node)]


def parse_as(model: type[Model], text: str, name: str, keys: str) -> Model:
    """YAML as a model. Raises ConfigError when it cannot be parsed or is not legal. `keys`: its top-level keys."""
    try:
        document = yaml.load(text, _UniqueKeys)  # a SafeLoader
    except (
        yaml.YAMLError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as cause:
        # Not only YAML's own errors: a list as a key, 2026-13-01, `!!int` and `!!timestamp x` raise Python's errors.
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
        raise ConfigError(
            "\n".join(f"{name}: {_line(error, document)}"[:MOST_OF_A_PROBLEM] for error in errors)
        ) from cause


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
            return f"{path}: {_quoted(value)} {_legal(error, value)}"


def _quoted(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes out no integer of more than 4,300 digits, and YAML reads one in hexadecimal
        return "a number with too many digits"


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
