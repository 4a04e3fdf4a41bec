"""The actuator's chart: each pool is an object of its namespace, whose spec overrides the actuator's configuration."""

import json
from typing import Any

from cluster.installed import NAMESPACE
from cluster.queries import Queries
from sluice_kit.servers.kubernetes import Kubernetes
from sluice_kit.waiting import until

NAME = "cart.server"


def test_a_pool_is_shown_and_its_spec_counts(sluice: Queries, actuator: Kubernetes) -> None:
    until("cart has a recommendation", lambda: sluice.target("cart") > 0)
    until("cart is shown", lambda: _status(actuator).get("target", 0) and _status(actuator)["inForce"])
    print(actuator.kubectl("get", "softresources", "-n", NAMESPACE))
    (owner,) = actuator.get("softresource", NAME, "-n", NAMESPACE)["metadata"]["ownerReferences"]
    assert owner["kind"] == "Deployment"
    patch = json.dumps({"spec": {"bounds": {"min": 20000}}})  # beyond the 128 of actuator.yaml
    actuator.kubectl("patch", "softresource", NAME, "-n", NAMESPACE, "--type=merge", "-p", patch)
    until("the bounds are named", lambda: _ready(actuator) == "BoundsOutside")
    patch = json.dumps({"spec": {"bounds": None}})
    actuator.kubectl("patch", "softresource", NAME, "-n", NAMESPACE, "--type=merge", "-p", patch)
    until("the pool is ready again", lambda: _ready(actuator) != "BoundsOutside")


def _status(cluster: Kubernetes) -> dict[str, Any]:
    items = cluster.get("softresources", "-n", NAMESPACE)["items"]
    return next((item.get("status", {}) for item in items if item["metadata"]["name"] == NAME), {})


def _ready(cluster: Kubernetes) -> str:
    conditions = _status(cluster)["conditions"]
    return next(str(condition["reason"]) for condition in conditions if condition["type"] == "Ready")
