"""What an uninstall leaves, the last test on the release: claims whose data outlive it, and nothing else."""

import json
from dataclasses import replace

from cluster.helm import CHARTS
from cluster.queries import Queries
from sluice_kit.waiting import until

#: Made by the cluster in every namespace, or by people before the release.
OF_OTHERS = {"configmap/kube-root-ca.crt", "serviceaccount/default", "secret/sluice", "secret/pools"}


def test_both_charts_leave_only_claims_of_the_collectors_queue(sluice: Queries) -> None:
    release = sluice.release
    actuator = replace(release, name="actuator", chart=CHARTS / "sluice-actuator", values=())
    if actuator.exists():  # tests of the actuator ran before
        actuator.uninstall()
    release.uninstall()
    until("pods are gone", lambda: not release.cluster.get("pods", "-n", release.namespace)["items"])
    until("the rest is gone", lambda: _kinds(sluice) <= {"persistentvolumeclaim"})
    assert all(name.startswith("persistentvolumeclaim/queue-") for name in _left(sluice)), _left(sluice)
    for kind in ("clusterrole", "clusterrolebinding"):
        names = [item["metadata"]["name"] for item in release.cluster.get(kind)["items"]]
        assert not [name for name in names if name.startswith(release.name)]


def _kinds(sluice: Queries) -> set[str]:
    return {name.split("/")[0] for name in _left(sluice)}


def _left(sluice: Queries) -> set[str]:
    """KIND/NAME of each object in the namespace, but for events and what is of others."""
    cluster, namespace = sluice.release.cluster, sluice.release.namespace
    kinds = cluster.kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name").split()
    wanted = ",".join(kind for kind in kinds if not kind.startswith(("events", "pods.metrics")))
    items = json.loads(cluster.kubectl("get", wanted, "-n", namespace, "-o", "json"))["items"]
    return {f"{item['kind'].lower()}/{item['metadata']['name']}" for item in items} - OF_OTHERS
