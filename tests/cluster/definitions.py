"""Definitions of the operators' resources, from the schemas that lint checks the charts' objects by."""

import json
from typing import Any

from cluster.helm import CHARTS

#: Group and plural by the schema's file in deploy/helm/schemas.
_NAMES = {
    "flinkdeployment-flink-v1beta1": ("flink.apache.org", "flinkdeployments"),
    "kafkatopic-kafka-v1": ("kafka.strimzi.io", "kafkatopics"),
    "podmonitor-monitoring-v1": ("monitoring.coreos.com", "podmonitors"),
    "prometheusrule-monitoring-v1": ("monitoring.coreos.com", "prometheusrules"),
    "servicemonitor-monitoring-v1": ("monitoring.coreos.com", "servicemonitors"),
}


def definitions() -> list[dict[str, Any]]:
    return [_definition(file, *names) for file, names in _NAMES.items()]


def _definition(file: str, group: str, plural: str) -> dict[str, Any]:
    schema = json.loads((CHARTS / f"schemas/{file}.json").read_text())
    kind = schema["properties"]["kind"]["const"]
    properties = {"spec": _structural(schema["properties"]["spec"])}
    version = {
        "name": file.rpartition("-")[2],
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }


def _structural(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema in the form that the API server demands: it refuses unknown keys itself, and knows no `$ref`."""
    if "$ref" in schema:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if isinstance(schema.get("type"), list):
        return {"x-kubernetes-preserve-unknown-fields": True}
    result: dict[str, Any] = {"type": "string"} if {"enum", "const"} & schema.keys() else {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _structural(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties"):
            if isinstance(value, dict):
                result[key] = _structural(value)
        elif key == "const":
            result["enum"] = [value]
        elif key == "exclusiveMinimum":  # a flag in OpenAPI 3.0
            result |= {"minimum": value, key: True}
        elif key != "required" or value:
            result[key] = value
    return result
