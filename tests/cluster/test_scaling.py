"""What a kubelet and an autoscaler change of real pods is told to the recommender, which records it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import requests

from cluster import application
from cluster.metrics import kubelet_metrics
from cluster.queries import Queries
from sluice_kit.servers.kubernetes import Kubernetes
from sluice_kit.waiting import until

NAMESPACE, NAME = application.NAMESPACE, application.NAME


@pytest.fixture(scope="module")
def shop(actuator: Kubernetes) -> Kubernetes:
    actuator.apply(*application.manifests("200m", 1))
    until("its pod runs", lambda: len(_addresses(actuator)) == 1)
    return actuator


def test_a_resize_in_place_is_told(sluice: Queries, shop: Kubernetes) -> None:
    until("the limit is told", _told(sluice, 200))
    (pod,) = shop.get("pods", "-n", NAMESPACE, "-l", f"app={NAME}")["items"]
    for cores in ("300m", "100m"):
        resources = {"requests": {"cpu": cores}, "limits": {"cpu": cores}}
        patch = {"spec": {"containers": [{"name": NAME, "resources": resources}]}}
        words = ("patch", "pod", pod["metadata"]["name"], "-n", NAMESPACE, "--subresource=resize")
        shop.kubectl(*words, "-p", json.dumps(patch))
        until(f"{cores} are told", _told(sluice, int(cores.removesuffix("m"))))
    (after,) = shop.get("pods", "-n", NAMESPACE, "-l", f"app={NAME}")["items"]
    (status,) = after["status"]["containerStatuses"]
    assert status["restartCount"] == 0
    until("the kubelet did it", lambda: _in_force(shop) == "100m")


def test_replicas_of_an_autoscaler_are_told(sluice: Queries, shop: Kubernetes) -> None:
    with kubelet_metrics(shop):
        shop.apply(application.autoscaler(3))
        with _busy(shop):
            until("three replicas are told", lambda: _newest(sluice, "replicas") == 3)
            assert len(_addresses(shop)) == 3
        until("one replica is told", lambda: _newest(sluice, "replicas") == 1)


def _told(sluice: Queries, thousandths: int) -> Callable[[], bool]:
    return lambda: _newest(sluice, "cpu_limit_cores * 1000") == thousandths


def _newest(sluice: Queries, column: str) -> int:
    """The value of the newest event of the application that has one; -1 without."""
    return sluice.value(
        f"SELECT toInt64(round({column})) FROM scaling_events WHERE service = '{NAME}' AND {column} IS NOT NULL"
        " ORDER BY at DESC, received DESC LIMIT 1"
    )


def _addresses(cluster: Kubernetes) -> list[str]:
    pods = cluster.get("pods", "-n", NAMESPACE, "-l", f"app={NAME}")["items"]
    return [pod["status"]["podIP"] for pod in pods if pod["status"]["phase"] == "Running"]


def _in_force(cluster: Kubernetes) -> str:
    (pod,) = cluster.get("pods", "-n", NAMESPACE, "-l", f"app={NAME}")["items"]
    return str(pod["status"]["containerStatuses"][0]["resources"]["limits"]["cpu"])


@contextmanager
def _busy(cluster: Kubernetes) -> Iterator[None]:
    """Each pod works all the time that its limit gives it."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            for address in _addresses(cluster):
                try:
                    requests.get(f"http://{address}:{application.PORT}/work", timeout=60)
                except requests.RequestException:
                    over.wait(0.5)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        over.set()
        for worker in workers:
            worker.join()
