"""The actuator's chart: pods are found, and a pool is resized once its pod has the annotation."""

from typing import Any

import requests

from cluster.installed import NAMESPACE
from cluster.queries import Queries
from sluice_kit.servers.kubernetes import Kubernetes
from sluice_kit.waiting import until


def test_a_pool_is_resized_in_a_pod_that_opts_in(sluice: Queries, actuator: Kubernetes) -> None:
    until("cart has a recommendation", lambda: sluice.target("cart") > 0)
    (shop,) = _shops(actuator)
    first = _size(shop["status"]["podIP"])
    reports = "SELECT count() FROM v_pool_now WHERE service = 'cart' AND current > 0"
    until("its size was reported", lambda: sluice.value(reports) > 0)
    assert _size(shop["status"]["podIP"]) == first  # nobody opted in
    actuator.kubectl("annotate", "pod", shop["metadata"]["name"], "-n", NAMESPACE, "sluice.dev/apply=true")
    until("the size is another", lambda: _size(shop["status"]["podIP"]) < first)
    applied = "SELECT count() FROM v_actuation_history WHERE service = 'cart' AND outcome = 'APPLIED'"
    until("it is recorded", lambda: sluice.value(applied) > 0)
    print(f"cart's threads: {first}, then {_size(shop['status']['podIP'])}")


def _shops(cluster: Kubernetes) -> list[dict[str, Any]]:
    pods: list[dict[str, Any]] = cluster.get(
        "pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=shop", "--field-selector=status.phase=Running"
    )["items"]
    return pods


def _size(address: str) -> int:
    return int(requests.get(f"http://{address}:8090/pools/cart.threads", timeout=60).json()["size"])
