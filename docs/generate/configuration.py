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
The keys of the decider's file (`deploy/local/sluice.yaml` is an example; [the recommender's
page](../../recommender/README.md#configuration) explains their effect). An unknown key is an error. A duration is a
number with a unit: `250ms`, `15s`, `2m`, `1h`.
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
    models = {"The file": schema, **{name: of for name, of in schema["$defs"].items() if "properties" in of}}
    bases = [entry for base in Config.__mro__ for entry in _entries(getdoc(base) or "")]
    return page("Configuration", _INTRODUCTION, *(_section(name, of, dict(bases)) for name, of in models.items()))


def _section(name: str, schema: Mapping[str, Any], bases: Mapping[str, str]) -> str:
    known = bases if name == "The file" else dict(_entries(schema["description"]))
    lead = "" if name == "The file" else f"{_lead(schema['description'])}\n\n"
    rows = []
    for key, of in schema["properties"].items():
        kind, default = _type(of), _default(key, of, schema.get("required", []))
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


def _type(of: Mapping[str, Any]) -> str:
    if choices := of.get("anyOf") or of.get("oneOf"):
        return " or ".join(_type(choice) for choice in choices if choice.get("type") != "null")
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        return "times of day, as `22:00-06:00`" if name == "Hours" else f"[{name}](#{name.lower()})"
    if "enum" in of or "const" in of:
        return ", ".join(f"`{value}`" for value in of.get("enum", [of.get("const")]))
    if of["type"] == "array":
        return f"list of {_type(of['items'])}"
    if of["type"] == "object":
        return f"mapping to {_type(of['additionalProperties'])}"
    limits = [f"{_LIMITS[key]} {_value(of, of[key])}" for key in _LIMITS if key in of]
    kind = {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(of["type"], of["type"])
    return " ".join([of.get("format", kind), *limits])


def _value(of: Mapping[str, Any], value: Any) -> str:
    return _duration(value) if of.get("format") == "duration" else str(value)


def _duration(ms: float) -> str:
    """In the largest unit that gives a whole number."""
    unit = next(unit for unit, length in _UNITS.items() if ms % length == 0)
    return f"{ms / _UNITS[unit]:g}{unit}" if ms else "0ms"


def _default(key: str, of: Mapping[str, Any], required: list[str]) -> str:
    if key in required:
        return "required"
    value = of.get("default")
    if value is None or value == "":
        return ""
    kinds = [of, *of.get("oneOf", []), *of.get("anyOf", [])]
    if isinstance(value, float) and any(kind.get("format") == "duration" for kind in kinds):
        return f"`{_duration(value)}`"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
