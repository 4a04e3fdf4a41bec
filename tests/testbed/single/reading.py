"""Reads scenario files; every problem is named by file, key, value and legal range."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .scenario import Bimodal, Cliff, Convoy, Dependency, Event, Part, Pauses, Scaler, Scenario, Service, Usl

PARTS: dict[str | int, type[Part]] = {"service": Service, "dependency": Dependency, "scaler": Scaler, "events": Event}
LAWS: dict[str | int, type[Part]] = {"usl": Usl, "cliff": Cliff, "convoy": Convoy, "pauses": Pauses, "bimodal": Bimodal}


class ScenarioError(Exception):
    """The file cannot be used; the message has one line per problem."""


class _UniqueKeys(yaml.SafeLoader):
    """A key that stands twice in one mapping is an error, and does not override the first in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for i, key in enumerate(keys):
            if key in keys[:i]:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def load(path: Path) -> Scenario:
    """Raises ScenarioError when the file cannot be read, parsed or is not legal."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise ScenarioError(f"read {path}: {cause}") from cause
    return parse(text, str(path))


def parse(text: str, name: str) -> Scenario:
    """As ``load``, from text; ``name`` stands for the file in messages."""
    try:
        document = yaml.load(text, _UniqueKeys)  # a SafeLoader
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as cause:
        raise ScenarioError(f"parse {name}: {cause}") from cause
    if not isinstance(document, dict):
        raise ScenarioError(f"{name}: must be a mapping with the keys {', '.join(Scenario.model_fields)}")
    try:
        return Scenario.model_validate(document)
    except ValidationError as cause:
        raise ScenarioError("\n".join(f"{name}: {_line(error, document)}" for error in cause.errors())) from cause


def write(scenario: Scenario) -> str:
    """The file's text, without what it leaves as it is."""
    document = scenario.model_dump(exclude_none=True) | {"scaler": scenario.scaler and scenario.scaler.model_dump()}
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=120)


def _line(error: ErrorDetails, document: Any) -> str:
    path, value = "", document
    for part in error["loc"]:
        if isinstance(value, dict) and part not in value and part == value.get("kind"):
            continue  # which law it is, where pydantic counts that to the path
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
        value = _within(value, part)
    detail = _legal(error)
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: unknown key; legal: {', '.join(_part(error['loc']).model_fields)}"
        case "missing" | "union_tag_not_found":
            return f"{path}: {detail}"
        case "value_error":
            return f"{path}: {detail}" if path else detail
        case _:
            return f"{path}: {value!r} is not legal; {detail}"


def _within(value: Any, part: int | str) -> Any:
    """The value as it stands in the file; None where it is not there."""
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def _part(loc: tuple[int | str, ...]) -> type[Part]:
    """That of the last key; of a law the second part is its kind."""
    if len(loc) == 1:
        return Scenario
    return LAWS[loc[1]] if loc[0] == "law" else PARTS[loc[0]]


def _legal(error: ErrorDetails) -> str:
    limits = error.get("ctx", {})
    match error["type"]:
        case "greater_than":
            return f"legal: > {limits['gt']:g}"
        case "greater_than_equal":
            return f"legal: >= {limits['ge']:g}"
        case "less_than":
            return f"legal: < {limits['lt']:g}"
        case "less_than_equal":
            return f"legal: <= {limits['le']:g}"
        case "union_tag_invalid":
            return f"legal: kind {limits['expected_tags']}"
        case "union_tag_not_found":
            return f"kind is missing; legal: {', '.join(map(repr, LAWS))}"
        case "missing":
            return "is missing"
        case "value_error":
            return error["msg"].removeprefix("Value error, ")
        case _:
            return f"legal: {error['msg'].removeprefix('Input should be ')}"
