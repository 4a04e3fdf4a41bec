"""Pools that pods declare, and the objects that show them, on a real API server with the rights of the chart.

Nobody acts on the objects of that server: the test says that the pod runs. Its pools are behind the handler of Python.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from sluice.pools.v1.pool_pb2 import Pool as Key
from sluice.pools.v1.pool_pb2 import Side
from sluice_kit.applications.kube_pools import ADDRESSES, FIRST, Pool, pools
from sluice_kit.fakes.pool_sizes_server import PoolSizesServer
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.kubernetes import PODS, Kubernetes, api_server
from sluice_kit.waiting import until
from stack.installs import BIN
from stack.settings import REPOSITORY

pytestmark = pytest.mark.timeout(900)

HELM = REPOSITORY / "deploy/helm"
DEFINITION = HELM / "sluice-actuator/crds/softresources.yaml"
ROWS = Key(service="cart", side=Side.SIDE_CLIENT, peer="postgres")
NAME = "cart.client.postgres"
RIGHTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")


@dataclass
class Shop:
    cluster: Kubernetes
    server: PoolSizesServer
    pool: Pool

    @property
    def slo_ms(self) -> float | None:
        """The SLO in the newest report."""
        newest = self.server.reports[-1:]
        return newest[0].slo.ToMilliseconds() if newest and newest[0].HasField("slo") else None

    def softresource(self) -> dict[str, Any]:
        return self.cluster.get("softresource", NAME, "-n", "shop")

    def condition(self, kind: str) -> str:
        conditions = self.softresource()["status"]["conditions"]
        return next(f"{item['status']}:{item['reason']}" for item in conditions if item["type"] == kind)

    def override(self, **spec: object) -> None:
        patch = json.dumps({"spec": spec})
        self.cluster.kubectl("patch", "softresource", NAME, "-n", "shop", "--type=merge", "-p", patch)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubernetes]:
    with api_server(tmp_path_factory.mktemp("kubernetes")) as cluster:
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        cluster.kubectl("apply", "-f", str(DEFINITION))
        cluster.kubectl("wait", "--for=condition=Established", "crd/softresources.sluice.dev", "--timeout=60s")
        yield cluster


@pytest.fixture(scope="module")
def shop(cluster: Kubernetes) -> Iterator[Shop]:
    rendered = yaml.safe_load_all((HELM / "examples/actuator/rendered.yaml").read_text())
    cluster.apply(*(item for item in rendered if item and item["kind"] in RIGHTS))
    with ExitStack() as up:
        server = up.enter_context(PoolSizesServer())
        port, token, there = up.enter_context(pools(cluster.folder))
        _run_pod(cluster, port)
        account = cluster.kubeconfig_of(cluster.token("shop", "sluice-actuator"), "actuator")
        (status,) = free_ports(1)
        config = {
            "name": "soft",
            "status_address": f"127.0.0.1:{status}",
            "recommender": {"address": server.address, "interval": "1s"},
            "kubernetes": {"kubeconfig": str(account), "soft_resources": True},
            "discover": [
                {
                    "name": "shop",
                    "within": [PODS],
                    "kubernetes": {"namespace": "shop"},
                    "target": {"max_factor": 64, "cooldown": "0s", "handler": {"token_file": str(token)}},
                }
            ],
        }
        file = cluster.folder / "actuator.yaml"
        file.write_text(yaml.safe_dump(config))
        command: list[str | Path] = [BIN / "sluice-actuator", "--config", file]
        ready = answers(f"http://127.0.0.1:{status}/readyz")
        up.enter_context(running("actuator", command, ready, cluster.folder / "actuator.log", 30))
        yield Shop(cluster, server, there[ADDRESSES[0]])


def _run_pod(cluster: Kubernetes, port: int) -> None:
    container = {"name": "app", "image": "cart"}
    labels = {"app": "cart", "pod-template-hash": "7f9c"}
    selector = {"matchLabels": {"app": "cart"}}
    template = {"metadata": {"labels": {"app": "cart"}}, "spec": {"containers": [container]}}
    metadata: dict[str, Any] = {"namespace": "shop", "name": "cart"}
    spec = {"replicas": 1, "selector": selector, "template": template}
    cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "cart-7f9c", "uid": "1", "controller": True}
    annotations = {
        "sluice.dev/pool.rows": "client/postgres",
        "sluice.dev/target.rows": f"handler:{port}/rows",
        "sluice.dev/pool.threads": "srver",
        "sluice.dev/target.threads": "tomcat:8778",
        "sluice.dev/slo": "200ms",
    }
    metadata = {"namespace": "shop", "name": "cart-7f9c-x", "labels": labels, "annotations": annotations}
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | {"ownerReferences": [owner]}}
    cluster.apply(pod | {"spec": {"containers": [container]}})
    running_at = {"phase": "Running", "podIP": ADDRESSES[0], "podIPs": [{"ip": ADDRESSES[0]}]}
    status = json.dumps({"status": running_at})
    cluster.kubectl("patch", "pod", "cart-7f9c-x", "-n", "shop", "--subresource=status", "--type=merge", "-p", status)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "spec.pool: Required value"),
        ({"pool": {"service": "cart", "side": "sever"}}, 'Unsupported value: "sever"'),
        ({"pool": {"service": "cart", "side": "client"}}, "want a peer for a client pool, and none for another"),
        ({"pool": {"service": "cart", "side": "server", "peer": "db"}}, "want a peer for a client pool"),
        ({"pool": {"service": "", "side": "server"}}, "spec.pool.service"),
        ({"bounds": {"min": 0}}, "greater than or equal to 1"),
        ({"bounds": {"min": 9, "max": 8}}, "want min up to max"),
        ({"bounds": {"minimum": 9}}, 'unknown field "spec.bounds.minimum"'),
        ({"apply": "yes"}, "spec.apply"),
        ({"slo": "fast"}, "spec.slo in body should match"),
        ({"slo": "200"}, "spec.slo in body should match"),
        ({"slo": "0.9ms"}, "want a duration of 1ms to 1h, such as 200ms"),
        ({"slo": "1h1s"}, "want a duration of 1ms to 1h"),
        ({"slo": 200}, "spec.slo"),
    ],
)
def test_the_api_server_refuses_a_bad_spec(cluster: Kubernetes, spec: dict[str, Any], message: str) -> None:
    whole = spec if spec.get("pool") or not spec else {"pool": {"service": "cart", "side": "server"}} | spec
    metadata = {"namespace": "shop", "name": "bad"}
    item = {"apiVersion": "sluice.dev/v1alpha1", "kind": "SoftResource", "metadata": metadata, "spec": whole}
    with pytest.raises(AssertionError, match=re.escape(message)):
        cluster.kubectl("create", "-f", "-", text=yaml.safe_dump(item))


def test_a_declared_pool_is_shown(shop: Shop) -> None:
    shop.server.publish(ROWS, 30)
    until("the decision is shown", lambda: _shown(shop) and shop.condition("Applied") == "False:NotOptedIn")
    table = shop.cluster.kubectl("get", "softres", "-n", "shop")
    print(table)
    head, row = table.splitlines()
    assert head.split() == ["NAME", "POOL", "IN", "FORCE", "TARGET", "STATE", "REASON", "AGE"]
    assert row.split()[:5] == [NAME, "cart/client/postgres", str(FIRST), "30", "PROVIDED"]
    (owner,) = shop.softresource()["metadata"]["ownerReferences"]
    assert owner["uid"] == shop.cluster.get("deployment", "cart", "-n", "shop")["metadata"]["uid"]
    assert shop.pool.size == FIRST


def test_a_bad_annotation_is_an_event_of_the_pod(shop: Shop) -> None:
    def refusals() -> list[str]:
        items = shop.cluster.get("events", "-n", "shop")["items"]
        return [item["message"] for item in items if item["reason"] == "AnnotationRefused"]

    until("the event is there", lambda: bool(refusals()))
    wanted = 'annotation sluice.dev/pool.threads: "srver": want server, consumer or client/PEER'
    assert refusals() == [wanted]


def test_a_spec_opts_in_and_narrows(shop: Shop) -> None:
    until("the pool is shown", lambda: _shown(shop))
    shop.override(apply=True, bounds={"max": 16})
    until("30 is refused", lambda: _events(shop, "PoolSizeRefused"))
    assert shop.pool.size == FIRST
    shop.override(bounds={"max": 40})
    until("30 is in force", lambda: shop.pool.size == 30)
    shop.cluster.kubectl("wait", f"softresource/{NAME}", "-n", "shop", "--for=condition=Applied", "--timeout=50s")
    observed = shop.softresource()
    assert observed["status"]["observedGeneration"] == observed["metadata"]["generation"]
    shop.override(apply=False)
    shop.server.publish(ROWS, 20)
    until("20 is not applied", lambda: shop.condition("Applied") == "False:NotOptedIn")
    assert shop.pool.size == 30
    shop.override(bounds={"min": 2000, "max": None})
    until("the bounds are named", lambda: shop.condition("Ready") == "False:BoundsOutside")


def test_a_spec_replaces_the_slo_of_the_annotation(shop: Shop) -> None:
    until("the annotation's is reported", lambda: shop.slo_ms == 200)
    for slo, expected_ms in (("1h", 3_600_000), ("1ms", 1), ("1.5s", 1_500), (None, 200)):
        shop.override(slo=slo)
        until(f"{slo} is reported", lambda expected_ms=expected_ms: shop.slo_ms == expected_ms)


def test_a_pool_never_changes(shop: Shop) -> None:
    until("the pool is shown", lambda: _shown(shop))
    with pytest.raises(AssertionError, match="a pool never changes"):
        shop.override(pool={"service": "front"})


def _shown(shop: Shop) -> bool:
    items = shop.cluster.get("softresources", "-n", "shop")["items"]
    return any(item["metadata"]["name"] == NAME and "status" in item for item in items)


def _events(shop: Shop, reason: str) -> bool:
    return any(item["reason"] == reason for item in shop.cluster.get("events", "-n", "shop")["items"])
