"""Schemas of Kubernetes, as set-up unpacks them for kubeconform."""

import json
import zipfile
from pathlib import Path

import pytest

from stack import charts


def test_schemas_of_one_version_name_their_definitions_by_a_file_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "SCHEMAS", tmp_path / "schemas")
    pod = {
        "$id": "https://kubernetes.io/api/pod/v1",
        "properties": {"spec": {"$ref": "/api/_definitions.json#/$defs/Spec"}},
    }
    with zipfile.ZipFile(tmp_path / "wheel", "w") as wheel:
        for version in ("v1.35.0", charts.KUBERNETES):
            name = f"kubernetes_validate/kubernetes-json-schema/{version}-local-strict/pod-{version[1:5]}.json"
            wheel.writestr(name, json.dumps(pod))
    charts._schemas(tmp_path / "wheel")
    (file,) = charts.SCHEMAS.iterdir()
    assert file.name == f"pod-{charts.KUBERNETES[1:5]}.json"
    assert json.loads(file.read_text()) == {"properties": {"spec": {"$ref": "_definitions.json#/$defs/Spec"}}}
