"""Writes what each chart has from other files: the schema of its values, the table of its values in README.md, schemas
of operators' objects, and copies of files that other rooms own. `--check` writes nothing and exits with 1 where
something is not current.

A value's description is the comment `# -- ...` before it. Its type is that of its default; schema.yaml of the chart has
what a default does not show.
"""

import argparse
import fnmatch
import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

HELM = Path(__file__).parent
REPOSITORY = HELM.parents[1]
CHARTS = ("sluice", "sluice-actuator")
START, END = "<!-- values -->", "<!-- end of values -->"
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def descriptions(text: str) -> dict[str, str]:
    """The comments `# -- ...` of a values file, by the dotted path of the key that follows each."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    comment = ""
    for line in text.splitlines():
        if note := re.match(r"\s*# -- (.*)", line):
            comment = note[1]
        elif key := re.match(r"( *)([A-Za-z]\w*):", line):
            path = [(depth, name) for depth, name in path if depth < len(key[1])] + [(len(key[1]), key[2])]
            if comment:
                found[".".join(name for _, name in path)] = comment
            comment = ""
    return found


def schema(value: Any, path: str, rules: dict[str, Any], notes: dict[str, str]) -> dict[str, Any]:
    """The JSON schema of a value with this default. Rules add to it, or replace it where they have `$ref`."""
    matching = [rule for pattern, rule in rules.items() if fnmatch.fnmatchcase(path, pattern)]
    described = {"description": notes[path]} if path in notes else {}
    if references := [rule for rule in matching if "$ref" in rule]:
        return {**described, **references[-1]}
    result: dict[str, Any] = described | {"type": TYPES[type(value)]}
    if isinstance(value, dict) and value:
        prefix = f"{path}." if path else ""
        result["properties"] = {name: schema(part, prefix + name, rules, notes) for name, part in value.items()}
        result["additionalProperties"] = False
    for rule in matching:
        result |= rule
    return result


def whole_schema(chart: Path) -> dict[str, Any]:
    """Names of other charts' values (renamed.yaml) are legal here: a template refuses them with the right name."""
    text = (chart / "values.yaml").read_text()
    declared = yaml.safe_load((chart / "schema.yaml").read_text())
    result = schema(yaml.safe_load(text), "", declared["rules"], descriptions(text))
    result["properties"]["global"] = {"type": "object"}
    for name in yaml.safe_load((chart / "files/renamed.yaml").read_text()):
        *parents, last = name.split(".")
        place = result
        for parent in parents:
            place = place["properties"][parent]
        place["properties"][last] = {}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "$defs": declared["definitions"], **result}


def table(chart: Path) -> str:
    """The values of a chart with their defaults, as Markdown."""
    text = (chart / "values.yaml").read_text()
    values = yaml.safe_load(text)
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for path, note in descriptions(text).items():
        default = values
        for name in path.split("."):
            default = default[name]
        lines.append(f"| `{path}` | `{json.dumps(default)}` | {note.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def schema_of(item: dict[str, Any]) -> str:
    """The schema of an operator's object (schemas.yaml): these keys of `spec`, and no others."""
    properties = {
        "apiVersion": {"const": item["apiVersion"]},
        "kind": {"const": item["kind"]},
        "metadata": {"$ref": "_definitions.json#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
        "spec": {"type": "object", **item["spec"], "additionalProperties": False},
    }
    result = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **result}, indent=1) + "\n"


def outputs() -> dict[Path, str]:
    """The content of each generated file."""
    files = {HELM / "sluice/files/topics.yaml": (REPOSITORY / "collector/topics.yaml").read_text()}
    for dashboard in sorted((REPOSITORY / "dashboards/json").glob("*.json")):
        files[HELM / "sluice/files/dashboards" / dashboard.name] = dashboard.read_text()
    for name, item in yaml.safe_load((HELM / "schemas.yaml").read_text())["objects"].items():
        files[HELM / "schemas" / f"{name}.json"] = schema_of(item)
    for name in CHARTS:
        chart = HELM / name
        files[chart / "values.schema.json"] = json.dumps(whole_schema(chart), indent=2) + "\n"
        before, _, rest = (chart / "README.md").read_text().partition(START)
        after = rest.partition(END)[2]
        files[chart / "README.md"] = f"{before}{START}\n{table(chart)}\n{END}{after}"
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    stale = {path: text for path, text in outputs().items() if not path.is_file() or path.read_text() != text}
    for path, text in stale.items():
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        print(f"{path.relative_to(REPOSITORY)}: {'is not current: run `make generate`' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
