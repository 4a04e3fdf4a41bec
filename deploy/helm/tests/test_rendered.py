"""The rendered examples of the charts, object by object: what holds for each pod, each name, each selector."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

HELM = Path(__file__).parents[1]
Object = dict[str, Any]
EXAMPLES = {
    folder.name: [
        item for item in yaml.load_all((folder / "rendered.yaml").read_text(), Loader=yaml.CSafeLoader) if item
    ]
    for folder in sorted((HELM / "examples").iterdir())
}
OBJECTS = [(example, item) for example, items in EXAMPLES.items() for item in items]


def named(kind: str) -> list[Any]:
    return [
        pytest.param(example, item, id=f"{example}-{item['metadata']['name']}")
        for example, item in OBJECTS
        if item["kind"] == kind
    ]


def template_of(item: Object) -> Object | None:
    """The pod's template of a workload, else None."""
    template: Object | None = item.get("spec", {}).get("template", item.get("spec", {}).get("podTemplate"))
    return template


PODS = [
    pytest.param(template, id=f"{example}-{item['kind']}-{item['metadata']['name']}")
    for example, item in OBJECTS
    if (template := template_of(item))
]


def containers(template: Object) -> Iterator[Object]:
    yield from template["spec"].get("initContainers", [])
    yield from template["spec"]["containers"]


@pytest.mark.parametrize("template", PODS)
def test_a_pod_fits_the_restricted_standard(template: Object) -> None:
    spec = template["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    allowed = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
    assert all((volume.keys() - {"name"}) <= allowed for volume in spec["volumes"])
    for container in containers(template):
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not any("hostPort" in port for port in container.get("ports", []))


@pytest.mark.parametrize("template", PODS)
def test_variables_of_services_do_not_reach_a_pod(template: Object) -> None:
    """Kubernetes would set SLUICE_KAFKA_PORT and the like, which Sluice's programs would take for settings."""
    assert template["spec"]["enableServiceLinks"] is False


@pytest.mark.parametrize("template", PODS)
def test_a_container_has_a_memory_limit_and_a_pinned_image(template: Object) -> None:
    for container in containers(template):
        if container["name"] == "flink-main-container":  # image and resources are keys of the FlinkDeployment
            continue
        assert container["resources"]["limits"]["memory"]
        tag = container["image"].rpartition(":")[2]
        assert tag[0].isdigit() or "@sha256:" in container["image"]


@pytest.mark.parametrize("template", PODS)
def test_our_containers_write_to_declared_volumes_only(template: Object) -> None:
    for container in containers(template):
        if "/sluice/" in f"/{container.get('image', '')}":
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert "/tmp" in [mount["mountPath"] for mount in container["volumeMounts"]]


@pytest.mark.parametrize("template", PODS)
def test_a_container_mounts_volumes_that_exist_and_each_volume_is_used(template: Object) -> None:
    declared = {volume["name"] for volume in template["spec"]["volumes"]}
    mounted = {mount["name"] for each in containers(template) for mount in each["volumeMounts"]}
    assert declared <= mounted
    assert mounted - declared <= {"queue", "data"}  # of volumeClaimTemplates


@pytest.mark.parametrize("template", PODS)
def test_no_secret_is_a_value_of_a_variable(template: Object) -> None:
    for container in containers(template):
        for variable in container.get("env", []):
            name = variable["name"]
            if "PASSWORD" in name or "TOKEN" in name or "SECRET" in name:
                assert "valueFrom" in variable or variable["value"].startswith("/run/secrets/")


@pytest.mark.parametrize("example", EXAMPLES)
def test_no_secret_and_no_definition_of_resources_is_rendered(example: str) -> None:
    kinds = {item["kind"] for item in EXAMPLES[example]}
    assert not kinds & {"Secret", "CustomResourceDefinition", "Namespace"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_names_are_legal_and_given_once(example: str) -> None:
    keys = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in EXAMPLES[example]]
    assert len(set(keys)) == len(keys)
    assert all(len(name) <= 63 for _, _, name in keys)


def selected(items: list[Object], labels: Object) -> list[Object]:
    templates = [template for item in items if (template := template_of(item))]
    return [template for template in templates if labels.items() <= template["metadata"]["labels"].items()]


@pytest.mark.parametrize(("example", "service"), named("Service"))
def test_a_service_finds_pods_with_its_ports(example: str, service: Object) -> None:
    pods = selected(EXAMPLES[example], service["spec"]["selector"])
    assert pods
    ports = {port["name"] for pod in pods for each in containers(pod) for port in each.get("ports", [])}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


@pytest.mark.parametrize(("example", "policy"), named("NetworkPolicy"))
def test_a_network_policy_finds_pods_and_lets_them_resolve_names(example: str, policy: Object) -> None:
    assert selected(EXAMPLES[example], policy["spec"]["podSelector"]["matchLabels"])
    assert {"port": 53, "protocol": "UDP"} in policy["spec"]["egress"][0]["ports"]
    assert all(rule["ports"] for rule in policy["spec"]["egress"])


@pytest.mark.parametrize(("example", "budget"), named("PodDisruptionBudget"))
def test_a_disruption_budget_leaves_a_pod_to_drain(example: str, budget: Object) -> None:
    labels = budget["spec"]["selector"]["matchLabels"].items()
    (workload,) = (
        item
        for item in EXAMPLES[example]
        if (template := template_of(item)) and labels <= template["metadata"]["labels"].items()
    )
    assert workload["spec"].get("replicas", 2) > budget["spec"]["maxUnavailable"] > 0


@pytest.mark.parametrize(("example", "autoscaler"), named("HorizontalPodAutoscaler"))
def test_what_an_autoscaler_scales_has_no_replicas(example: str, autoscaler: Object) -> None:
    target = autoscaler["spec"]["scaleTargetRef"]
    (workload,) = (
        item
        for item in EXAMPLES[example]
        if item["kind"] == target["kind"] and item["metadata"]["name"] == target["name"]
    )
    assert "replicas" not in workload["spec"]


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_rights_name_what_they_are_for(kind: str) -> None:
    writable = {"configmaps", "events", "leases", "softresources", "softresources/status"}
    for example, item in OBJECTS:
        for rule in item["rules"] if item["kind"] == kind else ():
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            # Who may get nodes/proxy runs commands in every pod of the node.
            assert not {"secrets", "nodes/proxy"} & set(rule["resources"])
            if not set(rule["verbs"]) <= {"get", "list", "watch"} and example != "operator":
                assert set(rule["resources"]) <= writable
                assert kind == "Role"


def test_an_account_has_its_token_in_a_pod_only_where_it_has_rights() -> None:
    for example, items in EXAMPLES.items():
        bound = {subject["name"] for item in items for subject in item.get("subjects", ())}
        for template in filter(None, map(template_of, items)):
            spec = template["spec"]
            if spec["automountServiceAccountToken"]:
                assert spec["serviceAccountName"] in bound, example


def test_namespaced_rights_need_no_right_in_the_cluster() -> None:
    assert not [item for item in EXAMPLES["namespaced"] if item["kind"].startswith("ClusterRole")]
    spaces = {item["metadata"]["namespace"] for item in EXAMPLES["namespaced"] if item["kind"] == "Role"}
    assert spaces == {"shop", "sluice"}


def test_processes_wait_for_the_schema_and_no_container_waits_for_a_job() -> None:
    for example, items in EXAMPLES.items():
        for item in items:
            if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet"):
                assert "initContainers" not in template_of(item)["spec"], example  # type: ignore[index]
