"""The API server takes every object of the charts' examples, those of operators that no registry has among them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from cluster.definitions import definitions
from cluster.helm import CHARTS
from sluice_kit.servers.kubernetes import Kubernetes

EXAMPLES = sorted(path.parent.name for path in (CHARTS / "examples").glob("*/rendered.yaml"))


NAMESPACE = "dry-run"


@pytest.fixture(scope="module")
def operators(cluster: Kubernetes) -> Iterator[Kubernetes]:
    """The cluster with the definitions of operators, and a namespace."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    cluster.apply(namespace, *definitions())
    names = [f"crd/{definition['metadata']['name']}" for definition in definitions()]
    cluster.kubectl("wait", "--for=condition=Established", *names)
    yield cluster
    cluster.kubectl("delete", f"namespace/{NAMESPACE}", *names)


@pytest.mark.parametrize("example", EXAMPLES)
def test_its_objects_are_taken(operators: Kubernetes, example: str) -> None:
    objects = rendered(example)
    taken = json.loads(apply(operators, objects))
    items = taken["items"] if taken["kind"] == "List" else [taken]
    assert len(items) == len(objects)


@pytest.mark.parametrize("mistake", [{"flinkVersion": "v9"}, {"unknown": 1}])
def test_an_operators_object_with_a_mistake_is_refused(operators: Kubernetes, mistake: dict[str, object]) -> None:
    (deployment,) = (each for each in rendered("operator") if each["kind"] == "FlinkDeployment")
    deployment["spec"] |= mistake
    with pytest.raises(AssertionError, match=next(iter(mistake))):
        apply(operators, [deployment])


def rendered(example: str) -> list[dict[str, Any]]:
    """Its objects, in the tests' namespace where they have one."""
    text = (CHARTS / f"examples/{example}/rendered.yaml").read_text()
    objects: list[dict[str, Any]] = [document for document in yaml.safe_load_all(text) if document]
    for each in objects:
        if "namespace" in each["metadata"]:
            each["metadata"]["namespace"] = NAMESPACE
    return objects


def apply(cluster: Kubernetes, objects: list[dict[str, Any]]) -> str:
    words = ("--server-side", "--force-conflicts", "--dry-run=server", "-o", "json", "-f", "-")
    return cluster.kubectl("apply", *words, text=yaml.safe_dump_all(objects))
