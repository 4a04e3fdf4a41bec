"""The page of the decider's configuration: keys, types, ranges and defaults of the pydantic models."""

import json
import re
from collections.abc import Iterator, Mapping
from inspect import getdoc
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import BeforeValidatorFunctionSchema

from docs.generate.markdown import page, table
from sluice.config.model import Config
from sluice.model.durations import parse_ms

_INTRODUCTION = """
The keys of the decider's file (`deploy/local/sluice.yaml` is an example; [the decider](../decider.md),
[thresholds](../algorithms/threshold.md) and [models](../algorithms/README.md) explain their effect). An unknown key is
an error. A duration is a number with a unit: `250ms`, `15s`, `2m`, `1h`.
"""
_LIMITS = {
    "minimum": "from",
    "ge": "from",
    "exclusiveMinimum": "above",
    "gt": "above",
    "maximum": "to",
    "le": "to",
    "exclusiveMaximum": "below",
    "lt": "below",
}
_UNITS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
#: `PoolsSection` takes this value before the model reads the key.
_AUTOMATIC = {"pools": "auto"}
#: An entry of a docstring: names, two spaces or more, the meaning.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) {2,}(.+)$")


class _Schema(GenerateJsonSchema):
    def function_before_schema(self, schema: BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        inner = super().function_before_schema(schema)
        return {**inner, "format": "duration"} if schema["function"]["function"] is parse_ms else inner


def text() -> str:
    schema = Config.model_json_schema(schema_generator=_Schema)
    models = {"The file": schema, **{name: model for name, model in schema["$defs"].items() if "properties" in model}}
    bases = [entry for base in Config.__mro__ for entry in _entries(getdoc(base) or "")]
    return page("Configuration", _INTRODUCTION, *(_section(name, model, dict(bases)) for name, model in models.items()))


def _section(name: str, schema: Mapping[str, Any], bases: Mapping[str, str]) -> str:
    known = bases if name == "The file" else dict(_entries(schema["description"]))
    lead = "" if name == "The file" else f"{_lead(schema['description'])}\n\n"
    rows = []
    for key, value_schema in schema["properties"].items():
        kind, default = _type(value_schema), _default(key, value_schema, schema.get("required", []))
        if automatic := _AUTOMATIC.get(key):
            kind, default = f"`{automatic}` or {kind}", f"`{automatic}`"
        rows.append((f"`{key}`", kind, default, known.get(key, "").replace("None:", "absent:")))
    return f"## {name}\n\n{lead}{table(['key', 'legal', 'default', 'meaning'], rows)}"


def _lead(docstring: str) -> str:
    return " ".join(docstring.partition("\n\n")[0].split())


def _entries(docstring: str) -> Iterator[tuple[str, str]]:
    names, meaning = "", ""
    for line in [*docstring.splitlines(), ""]:
        match = _ENTRY.match(line)
        if names and not match and line.startswith("  "):
            meaning += f" {line.strip()}"
            continue
        for name in filter(None, names.split(", ")):
            yield name, meaning
        names, meaning = (match[1], match[2]) if match else ("", "")


def _type(value_schema: Mapping[str, Any]) -> str:
    if choices := value_schema.get("anyOf") or value_schema.get("oneOf"):
        return " or ".join(_type(choice) for choice in choices if choice.get("type") != "null")
    if "$ref" in value_schema:
        name = value_schema["$ref"].rpartition("/")[2]
        return "times of day, as `22:00-06:00`" if name == "Hours" else f"[{name}](#{name.lower()})"
    if "enum" in value_schema or "const" in value_schema:
        return ", ".join(f"`{value}`" for value in value_schema.get("enum", [value_schema.get("const")]))
    if value_schema["type"] == "array":
        return f"list of {_type(value_schema['items'])}"
    if value_schema["type"] == "object":
        return f"mapping to {_type(value_schema['additionalProperties'])}"
    limits = [f"{_LIMITS[key]} {_value(value_schema, value_schema[key])}" for key in _LIMITS if key in value_schema]
    kind = {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(
        value_schema["type"], value_schema["type"]
    )
    return " ".join([value_schema.get("format", kind), *limits])


def _value(value_schema: Mapping[str, Any], value: Any) -> str:
    return _duration(value) if value_schema.get("format") == "duration" else str(value)


def _duration(ms: float) -> str:
    """In the largest unit that gives a whole number."""
    unit = next(unit for unit, length in _UNITS.items() if ms % length == 0)
    return f"{ms / _UNITS[unit]:g}{unit}" if ms else "0ms"


def _default(key: str, value_schema: Mapping[str, Any], required: list[str]) -> str:
    if key in required:
        return "required"
    value = value_schema.get("default")
    if value is None or value == "":
        return ""
    kinds = [value_schema, *value_schema.get("oneOf", []), *value_schema.get("anyOf", [])]
    if isinstance(value, float) and any(kind.get("format") == "duration" for kind in kinds):
        return f"`{_duration(value)}`"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
