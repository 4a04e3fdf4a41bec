"""The shipped actuator beside a real control plane, with no more rights than the chart gives it.

What a HorizontalPodAutoscaler changes is told to the recommender, and the pools of the pods follow. Nodes and pods are
KWOK's; each pod's pool is behind the handler of Python programs, at the pod's address.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import grpc
import pytest
import requests
import yaml

from sluice.common.v1.scaling_pb2 import ScalingEvent
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import Pool as Key
from sluice.pools.v1.pool_pb2 import Side
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.applications.kube_pools import Pool, pools
from sluice_kit.fakes.kube_metrics import Usage, metrics
from sluice_kit.fakes.pool_sizes_server import PoolSizesServer
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.programs.recommender import light_windows, recommender
from sluice_kit.servers.kubernetes import ADMIN, Kubernetes, kubernetes
from sluice_kit.waiting import until
from stack.installs import BIN
from stack.settings import REPOSITORY

pytestmark = pytest.mark.timeout(900)

CHART = REPOSITORY / "deploy/helm"
RENDERED = (CHART / "examples/actuator/rendered.yaml", CHART / "sluice-actuator/sidecar.yaml")
RIGHTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")
#: What the database takes, of all pods together.
CONNECTIONS = 60
ROWS = Key(service="cart", side=Side.SIDE_CLIENT, peer="postgres")
DECIDED = f"""
backends: [{{peer: postgres, capacity: {CONNECTIONS}}}]
pools: [{{service: cart, side: client, peer: postgres, bounds: {{min: 2, max: 64}}}}]
"""


@dataclass
class Shop:
    cluster: Kubernetes
    server: PoolSizesServer
    usage: Usage
    pools: dict[str, Pool]
    port: int
    token: Path
    folder: Path

    def pods(self) -> list[dict[str, Any]]:
        """Those that run and are not told to end."""
        return [
            pod
            for pod in self.cluster.get("pods", "-n", "shop", "-l", "app=cart")["items"]
            if pod["status"].get("podIP") and "deletionTimestamp" not in pod["metadata"]
        ]

    def sizes(self) -> list[int]:
        return [self.pools[pod["status"]["podIP"]].size for pod in self.pods()]

    def scaling(self) -> dict[str, float]:
        """Everything that was told, the newest of each."""
        all_of_it: dict[str, float] = {}
        for event in list(self.server.scalings):
            if event.HasField("replicas"):
                all_of_it["replicas"] = event.replicas
            if event.HasField("cpu_limit_cores"):
                all_of_it["cores"] = event.cpu_limit_cores
        return all_of_it

    def events(self, reason: str) -> list[str]:
        items = self.cluster.get("events", "-n", "shop")["items"]
        return [f"{e['involvedObject']['kind']}: {e['message']}" for e in items if e["reason"] == reason]

    def lease(self, pod: str) -> dict[str, Any]:
        (one,) = (
            lease
            for lease in self.cluster.get("leases", "-n", "shop")["items"]
            if lease["metadata"]["annotations"].get("sluice.dev/instance") == pod
        )
        return dict(one)

    @contextmanager
    def actuator(self, name: str, recommender: str = "") -> Iterator[Any]:
        """A process with the rights of the chart. recommender: where no address is said, the test's own."""
        (status,) = free_ports(1)
        config = self.folder / f"{name}.yaml"
        account = self.cluster.kubeconfig_of(self.cluster.token("shop", "sluice-actuator"), "actuator")
        config.write_text(
            Template(Path(__file__).with_name("kubernetes.yaml").read_text()).substitute(
                name=name, group=name, status=f"127.0.0.1:{status}", recommender=recommender or self.server.address,
                port=self.port, state=self.folder / f"{name}.state", kubeconfig=account, token=self.token,
            )
        )  # fmt: skip
        command: list[str | Path] = [BIN / "sluice-actuator", "--config", config]
        log = self.folder / f"{name}.log"
        with running(name, command, answers(f"http://127.0.0.1:{status}/readyz"), log, 30) as process:
            yield process


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("kubernetes")
    with ExitStack() as up:
        cluster = up.enter_context(kubernetes(folder))
        usage = up.enter_context(metrics(cluster))
        server = up.enter_context(PoolSizesServer())
        port, token, there = up.enter_context(pools(folder))
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        cluster.kubectl("apply", "-f", str(CHART / "sluice-actuator/crds"))
        cluster.apply(*(item for item in documents(RENDERED[0]) if item["kind"] in RIGHTS))
        cluster.apply(*cart())

        def answer(event: ScalingEvent) -> None:
            if event.replicas:
                server.publish(ROWS, CONNECTIONS // event.replicas)

        server.on_scaling = answer
        yield Shop(cluster, server, usage, there, port, token, folder)


def cart() -> list[dict[str, Any]]:
    """Two pods of one core each, and an autoscaler that wants half of it used."""
    container = {"name": "cart", "image": "cart", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}
    target = {"type": "Utilization", "averageUtilization": 50}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": "shop", "name": "cart"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "cart"}},
                "template": {"metadata": {"labels": {"app": "cart"}}, "spec": {"containers": [container]}},
            },
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"namespace": "shop", "name": "cart"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart"},
                "minReplicas": 2,
                "maxReplicas": 6,
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        },
    ]


def documents(file: Path) -> list[dict[str, Any]]:
    return [item for item in yaml.safe_load_all(file.read_text()) if item]


@pytest.mark.parametrize("file", RENDERED, ids=lambda file: file.parent.name)
def test_the_api_server_takes_what_the_chart_renders(shop: Shop, file: Path) -> None:
    shop.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", str(file))
    assert {item["metadata"].get("namespace", "shop") for item in documents(file)} == {"shop"}


@pytest.mark.parametrize("file", RENDERED, ids=lambda file: file.parent.name)
def test_the_actuator_takes_the_configuration_that_the_chart_renders(shop: Shop, file: Path) -> None:
    variables = os.environ | {"POD_NAMESPACE": "shop", "POD_NAME": "cart-0", "POD_UID": "1"}
    (text,) = (item["data"]["actuator.yaml"] for item in documents(file) if item["kind"] == "ConfigMap")
    config = shop.folder / "rendered.yaml"
    config.write_text(text.replace("/run/secrets/pools/token", str(shop.token)))
    subprocess.run([BIN / "sluice-actuator", "--config", config, "--check"], check=True, env=variables)


def test_the_actuator_may_not_change_what_scales(shop: Shop) -> None:
    account = "--as=system:serviceaccount:shop:sluice-actuator"

    def may(verb: str, what: str, *more: str) -> bool:
        words = ("auth", "can-i", verb, what, account, *more)
        try:
            return shop.cluster.kubectl(*words).strip() == "yes"
        except AssertionError:
            return False  # kubectl says no by its exit code

    scaled = ("pods", "pods/resize", "pods/eviction", "deployments", "deployments/scale", "horizontalpodautoscalers")
    for what in scaled:
        for verb in ("create", "update", "patch", "delete"):
            assert not may(verb, what, "-n", "shop"), (verb, what)
    assert not may("get", "secrets", "-n", "shop")
    assert not may("list", "pods", "-n", "kube-system")
    assert may("watch", "pods", "-n", "shop")


def test_pools_follow_the_autoscaler(shop: Shop) -> None:
    with shop.actuator("follower"):
        until("two replicas are told", lambda: shop.scaling() == {"replicas": 2, "cores": 1})
        until("it is recommended", lambda: bool(shop.events("PoolSizeRecommended")))
        assert shop.sizes() == [64, 64]  # nobody opted in
        shop.cluster.kubectl("annotate", "namespace", "shop", "sluice.dev/apply=true")
        until("pools of 30", lambda: shop.sizes() == [30, 30])

        began = time.monotonic()
        shop.usage.cores = 0.9
        until("six replicas are told", lambda: shop.scaling()["replicas"] == 6)
        until("pools of 10", lambda: shop.sizes() == [10] * 6)
        print(f"two to six replicas, and their pools: {time.monotonic() - began:.1f} s after the load", flush=True)
        # Soft resources after the hardware: what was told never ran ahead of the pods.
        counts = [event.replicas for event in shop.server.scalings if event.HasField("replicas")]
        assert counts == sorted(counts)

        until("Events say so", lambda: len(shop.events("PoolSizeApplied")) >= 6)
        assert any(event.startswith("Pod: cart/client/postgres: 10 over ") for event in shop.events("PoolSizeApplied"))
        assert any(event.startswith("Deployment: cart: ") for event in shop.events("RecommenderTold"))
        name = shop.pods()[0]["metadata"]["name"]
        until("annotations say so", lambda: _noted(shop, name) == ("10", "10"))
        assert shop.lease(name)["spec"]["holderIdentity"].startswith("follower@")
        assert shop.lease(name)["metadata"]["ownerReferences"][0]["name"] == name

        shop.usage.cores = 0.1
        until("two replicas are told", lambda: shop.scaling()["replicas"] == 2)
        until("pools of 30 again", lambda: shop.sizes() == [30, 30])
        gone = {lease["metadata"]["name"] for lease in shop.cluster.get("leases", "-n", "shop")["items"]}
        assert len(gone) >= 2


def test_pools_follow_by_what_the_real_recommender_decides(shop: Shop, tmp_path: Path) -> None:
    """Autoscaler, actuator, server, Kafka, decider, and back: of a database that takes 60 connections each of two pods
    may have 30, and each of six 10; what the curve says of their pools may be less. They were never seen alike. The
    SLO, without which nothing would be applied, is the actuator's."""
    shop.cluster.kubectl("annotate", "namespace", "shop", "sluice.dev/apply=true", "--overwrite")
    shop.pools[shop.pods()[0]["status"]["podIP"]].size = 10
    windows = light_windows("cart", "postgres", shop.pods()[0]["metadata"]["name"])
    with recommender(tmp_path, DECIDED, windows) as address, shop.actuator("chain", address):
        until("both are read", lambda: len(decided(address).sizes) == 2)
        until("two pools fit the database", lambda: max(shop.sizes()) <= CONNECTIONS // 2)
        assert decided(address).threshold.ToMilliseconds() == 120  # the actuator's file has it, and not the decider's
        began = time.monotonic()
        shop.usage.cores = 0.9
        until("there are six pods", lambda: len(shop.pods()) == 6)
        scaled_s = time.monotonic() - began
        until("six pools fit the database", lambda: len(shop.sizes()) == 6 and max(shop.sizes()) <= CONNECTIONS // 6)
        print(f"six pods {scaled_s:.1f} s after the load, their pools {time.monotonic() - began:.1f} s", flush=True)
        until("an Event says so", lambda: any("replicas=6" in event for event in shop.events("RecommenderTold")))
        until("it is known", lambda: sum(target.size for target in decided(address).sizes) <= CONNECTIONS)
        shop.usage.cores = 0.1
        until("there are two pods", lambda: len(shop.pods()) == 2)


def decided(address: str) -> PoolSize:
    with grpc.insecure_channel(address) as channel:
        return PoolSizeServiceStub(channel).GetPoolSize(api.GetPoolSizeRequest(pool=ROWS), timeout=60).pool_size


def test_a_limit_is_told_before_it_falls_and_after_it_grew(shop: Shop) -> None:
    with shop.actuator("limits"):
        until("one core is told", lambda: shop.scaling()["cores"] == 1)
        for limit in ("2", "1"):
            shop.cluster.kubectl("set", "resources", "-n", "shop", "deployment/cart", f"--limits=cpu={limit}")
            until(f"{limit} cores are told", lambda limit=limit: shop.scaling()["cores"] == float(limit))
            if limit == "2":
                have = [pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] for pod in shop.pods()]
                assert set(have) == {"2"}
            until("it is rolled out", lambda limit=limit: _all_have(shop, limit))


def _noted(shop: Shop, pod: str) -> tuple[str, str]:
    """Recommended, and in force."""
    notes = shop.lease(pod)["metadata"]["annotations"]
    return notes.get("sluice.dev/recommended", ""), notes.get("sluice.dev/in-force", "")


def _all_have(shop: Shop, limit: str) -> bool:
    return {pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] for pod in shop.pods()} == {limit}


def test_a_resize_in_place_is_told(shop: Shop) -> None:
    def resize(cpu: str) -> None:
        resources = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
        patch = {"spec": {"containers": [{"name": "cart", "resources": resources}]}}
        shop.cluster.kubectl(*pod, "--subresource=resize", "-p", json.dumps(patch))

    def actuate(cpu: str) -> None:
        """What a kubelet says when it has done so; there is none."""
        given = [{"op": "add", "path": "/status/containerStatuses/0/resources", "value": {"limits": {"cpu": cpu}}}]
        shop.cluster.kubectl(*pod, "--subresource=status", "--type=json", "-p", json.dumps(given))

    with shop.actuator("resized"):
        until("one core is told", lambda: shop.scaling()["cores"] == 1)
        pod = ("patch", "pod", shop.pods()[0]["metadata"]["name"], "-n", "shop")
        actuate("1")
        resize("500m")
        until("half a core is told, before it is in force", lambda: shop.scaling()["cores"] == 0.5)
        actuate("500m")
        before = len(shop.server.scalings)
        resize("1")
        time.sleep(3)
        assert len(shop.server.scalings) == before  # not there yet
        actuate("1")
        until("one core is told, once it is in force", lambda: shop.scaling()["cores"] == 1)


def test_what_a_vpa_is_going_to_do_is_told(shop: Shop) -> None:
    with shop.actuator("vertical"):
        shop.cluster.apply(vertical_crd())  # while the actuator runs
        shop.cluster.kubectl("wait", "--for=condition=Established", f"crd/{vertical_crd()['metadata']['name']}")
        shop.cluster.apply(vertical(0.25))
        until("a quarter of a core is told", lambda: shop.scaling()["cores"] == 0.25)


def vertical_crd() -> dict[str, Any]:
    """As much of the VPA's as the API server needs to keep one."""
    names = {"kind": "VerticalPodAutoscaler", "plural": "verticalpodautoscalers", "singular": "verticalpodautoscaler"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    reviewed = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "verticalpodautoscalers.autoscaling.k8s.io", "annotations": reviewed},
        "spec": {
            "group": "autoscaling.k8s.io",
            "scope": "Namespaced",
            "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def vertical(cores: float) -> dict[str, Any]:
    """One that recommends `cores`, and is going to evict what requests more."""
    advice = {"containerName": "cart", "target": {"cpu": str(cores)}, "upperBound": {"cpu": str(cores)}}
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"namespace": "shop", "name": "cart"},
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart"},
            "updatePolicy": {"updateMode": "Recreate"},
        },
        "status": {"recommendation": {"containerRecommendations": [advice]}},
    }


def test_two_actuators_do_not_fight(shop: Shop) -> None:
    with shop.actuator("one") as one:
        pod = shop.pods()[0]
        until("one has it", lambda: _holder(shop, pod).startswith("one@"))
        with shop.actuator("two"):
            until("two reads the pools, too", lambda: any(report.actuator == "two" for report in shop.server.reports))
            assert _holder(shop, pod).startswith("one@")
            os.kill(one.pid, signal.SIGKILL)
            shop.server.publish(ROWS, 20)
            until("two says that it waits", lambda: any("one@" in event for event in shop.events("PoolOwnedElsewhere")))
            until("two has it after the lease", lambda: _holder(shop, pod).startswith("two@"))
            until("two writes", lambda: shop.sizes() == [20, 20])


def _holder(shop: Shop, pod: dict[str, Any]) -> str:
    try:
        return str(shop.lease(pod["metadata"]["name"])["spec"].get("holderIdentity", ""))
    except (ValueError, KeyError):
        return ""


def test_half_of_the_pods_are_replaced_within_a_wave(shop: Shop) -> None:
    """Who is new is read, and keeps its size until the answer is for it; nobody waits for who is gone."""
    shop.cluster.kubectl("delete", "hpa", "cart", "-n", "shop", "--ignore-not-found")
    shop.cluster.kubectl("annotate", "namespace", "shop", "sluice.dev/apply=true", "--overwrite")
    answers = shop.server.on_scaling

    def answer_nothing(event: ScalingEvent) -> None:
        """What is said here is said below."""

    def by_name() -> dict[str, Pool]:
        return {pod["metadata"]["name"]: shop.pools[pod["status"]["podIP"]] for pod in shop.pods()}

    def read(names: set[str]) -> Callable[[], bool]:
        """Since this was asked for, all of them were."""
        began = len(shop.server.reports)
        return lambda: names <= {report.instance for report in shop.server.reports[began:]}

    try:
        shop.server.on_scaling = answer_nothing
        shop.cluster.kubectl("scale", "deployment/cart", "-n", "shop", "--replicas=6")
        with shop.actuator("waves"):
            shop.server.publish(ROWS, 12)
            until("six pools of 12", lambda: shop.sizes() == [12] * 6)
            first = sorted(by_name())
            shop.server.publish(ROWS, 8, first[:2])
            until("two of 8", lambda: [by_name()[name].size for name in first] == [8] * 2 + [12] * 4)

            shop.cluster.kubectl("delete", "pod", "-n", "shop", "--wait=false", *first[::2])
            until("six pods again", lambda: len(by_name()) == 6 and not set(first[::2]) & set(by_name()))
            fresh = set(by_name()) - set(first)
            until("new ones are read", read(fresh))
            until("and once more", read(set(by_name())))
            assert [by_name()[name].size for name in first[1::2]] == [8, 12, 12]
            written = [
                report for report in shop.server.reports if report.instance in fresh and report.HasField("requested")
            ]
            assert not written, written

            shop.server.publish(ROWS, 8)
            until("all of 8", lambda: shop.sizes() == [8] * 6)
    finally:
        shop.server.on_scaling = answers
        shop.cluster.kubectl("scale", "deployment/cart", "-n", "shop", "--replicas=2")


def test_each_scaling_is_told_and_followed(shop: Shop) -> None:
    """Prints how soon; the last one, since it takes the autoscaler away."""
    shop.cluster.kubectl("delete", "hpa", "cart", "-n", "shop", "--ignore-not-found")
    shop.cluster.kubectl("annotate", "namespace", "shop", "sluice.dev/apply=true", "--overwrite")
    url = f"{shop.cluster.url}/apis/apps/v1/namespaces/shop/deployments/cart/scale"
    headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/merge-patch+json"}
    delays: dict[int, list[float]] = {2: [], 6: []}
    followed: list[float] = []
    with shop.actuator("each"):
        until("two replicas are told", lambda: shop.scaling().get("replicas") == 2)
        for replicas in (6, 2) * 8:
            began = time.monotonic()
            patch = {"spec": {"replicas": replicas}}
            requests.patch(url, json=patch, headers=headers, verify=str(shop.cluster.certificate), timeout=10)
            while shop.scaling()["replicas"] != replicas:
                time.sleep(0.002)
            delays[replicas].append(time.monotonic() - began)
            until("pools follow", lambda n=replicas: shop.sizes() == [CONNECTIONS // n] * n)
            followed.append(time.monotonic() - began)
    for what, times in (("fewer told", delays[2]), ("more told", delays[6]), ("pools have it", followed)):
        print(f"{what} after {min(times) * 1e3:.0f} to {max(times) * 1e3:.0f} ms, {len(times)} scalings", flush=True)
