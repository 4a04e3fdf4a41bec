"""The page of the charts' values: values.yaml and values.schema.json of deploy/helm."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from docs.generate.markdown import page, table

HELM = Path(__file__).resolve().parents[2] / "deploy/helm"
CHARTS = ("sluice", "sluice-actuator")
_INTRODUCTION = """
The values of the charts in `deploy/helm` with their types, legal values and defaults. Helm refuses any other key or
type. [Deploy](../deploy.md) describes the charts.
"""
#: Keys of JSON schema that limit a value.
_LIMITS = {"minimum": "from", "maximum": "to", "minItems": "items from", "pattern": "matches"}


def text() -> str:
    return page("Values of the charts", _INTRODUCTION, *map(_chart, CHARTS))


def _chart(name: str) -> str:
    schema = json.loads((HELM / name / "values.schema.json").read_text())
    values = yaml.safe_load((HELM / name / "values.yaml").read_text())
    rows = table(["value", "legal", "default", "meaning"], _rows("", schema, values, schema["$defs"]))
    return f"## Chart {name}\n\n{rows}"


def _rows(path: str, schema: dict[str, Any], value: Any, named: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Each value with a description, outer ones first."""
    if "description" in schema:
        yield f"`{path}`", legal(schema, named), f"`{json.dumps(value)}`", schema["description"]
    for name, part in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            yield from _rows(f"{path}.{name}".lstrip("."), part, value[name], named)


def legal(schema: dict[str, Any], named: dict[str, Any]) -> str:
    """Type and limits of a value. named: the schemas that `$ref` names."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"{legal(named[name], named)} of {name}" if "properties" in named[name] else legal(named[name], named)
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    types = schema.get("type", "any")
    limits = [f"{word} `{schema[key]}`" for key, word in _LIMITS.items() if key in schema]
    if items := schema.get("items"):
        limits.append(f"of {legal(items, named)}")
    return " ".join([types if isinstance(types, str) else " or ".join(types), *limits])
