"""Containers of a real API server up to the subsets of callers: EndpointSlices, the shipped actuator with the chart's
rights, server, Kafka, decider, and back to who follows.

No span shows a pod that a rollout brings. KWOK has nodes and pods; a pod that ends serves for ENDING_S.
"""

import json
import math
import os
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from migrate.__main__ import schema_up
from sluice_kit.applications.kube_service import PORT, PodLog, pod_log, service
from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.programs.decider import Decider
from sluice_kit.programs.subset_caller import CallLog, call_log
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.kafka import Kafka, kafka
from sluice_kit.servers.kubernetes import Kubernetes, kubernetes
from sluice_kit.servers.proxy import proxy
from sluice_kit.waiting import until
from stack.installs import BIN
from stack.settings import REPOSITORY

pytestmark = pytest.mark.timeout(1800)

CHART = REPOSITORY / "deploy/helm/examples/actuator-containers/rendered.yaml"
RIGHTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")
CALLERS, ENDING_S, LIMIT_S = 20, 10.0, 200.0
#: A machine with two busy cores and an API server takes some of it; the figure is printed.
IN_A_SUBSET_S = 2.0
DECIDED = """
pools: [{service: cart, side: server, threshold: 100ms}]
subsets: [{window: 1h, learn: 1h, gone: 30m, quiet: 20s}]
"""
TREE = '{"service":"front","operation":"GET /","stages":[[{"service":"cart"}]]}'
OF_CONTAINERS = [
    *("service", "instance", "host", "window", "window_s", "requests", "errors"),
    *("ln_sum", "ln_sum2", "latency", "version"),
]
OF_TREES = ["root_service", "root_operation", "window", "window_s", "tree", "traces", "version"]


@dataclass
class Shop:
    """cart in a cluster, callers of it that spans show, and the recommender."""

    cluster: Kubernetes
    broker: Kafka
    database: ClickHouse
    prefix: str
    address: str
    folder: Path
    server: ExitStack

    def serve(self) -> None:
        addresses = {"SLUICE_KAFKA": self.broker.bootstrap, "SLUICE_TOPIC_PREFIX": self.prefix}
        variables = os.environ | addresses | {"SLUICE_RECOMMENDER": self.address}
        log = self.folder / f"server-{uuid.uuid4().hex[:4]}.log"
        self.server.enter_context(running("server", [BINARY], lambda: ready(self.address), log, LIMIT_S, variables))

    def rows(self, instances: dict[str, list[str]]) -> None:
        """Five minutes of spans of these containers, and of the calls of front to cart."""
        client, now = self.database.client("sluice"), datetime.now(UTC)
        now = now.replace(second=now.second // 10 * 10, microsecond=0)
        rows: list[list[Any]] = []
        for nth in range(30):
            window = now - timedelta(seconds=10 * nth)
            for name, containers in instances.items():
                for number, instance in enumerate(containers):
                    ln, requests = math.log((5 + number % 7) * 1e6), 50 + number % 11
                    moments = [round(1e9 * requests * ln), round(1e9 * requests * (ln * ln + 0.1))]
                    rows.append([name, instance, "node-0", window, 10, requests, 0, *moments, {}, requests])
        for table in ("container_latency", "container_own_time"):
            client.insert(table, rows, column_names=OF_CONTAINERS)
        trees = [["front", "GET /", now - timedelta(seconds=10 * nth), 10, TREE, 150, 150] for nth in range(30)]
        client.insert("call_trees", trees, column_names=OF_TREES)

    @contextmanager
    def actuator(self, api_server: str = "") -> Iterator[str]:
        """The address of its pages. api_server: its address, where it is not the cluster's."""
        (page,) = free_ports(1)
        account = self.cluster.kubeconfig_of(self.cluster.token("shop", "sluice-actuator"), "actuator")
        text = account.read_text().replace(self.cluster.url, api_server or self.cluster.url)
        (kubeconfig := self.folder / f"actuator-{page}.kubeconfig").write_text(text)
        document = {
            "name": "actuator",
            "status_address": f"127.0.0.1:{page}",
            "recommender": {"address": self.address},
            "kubernetes": {"kubeconfig": str(kubeconfig)},
            "containers": [{"service": "cart", "renew": "1m", "kubernetes": {"namespace": "shop"}}],
        }
        (config := self.folder / f"actuator-{page}.yaml").write_text(yaml.safe_dump(document))
        pages = f"http://127.0.0.1:{page}"
        command = [BIN / "sluice-actuator", "--config", config]
        with running("actuator", command, answers(f"{pages}/readyz"), self.folder / f"actuator-{page}.log", 60):
            yield pages

    def scale(self, replicas: int) -> None:
        self.cluster.kubectl("scale", "-n", "shop", "deployment/cart", f"--replicas={replicas}")

    def restart(self) -> None:
        self.cluster.kubectl("rollout", "restart", "-n", "shop", "deployment/cart")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("containers")
    folders = {name: folder / name for name in ("kafka", "clickhouse", "decider", "kubernetes")}
    for path in folders.values():
        path.mkdir()
    with ExitStack() as up:
        controllers = ",endpointslice-controller"
        cluster = up.enter_context(kubernetes(folders["kubernetes"], "10.128.0.0/16", 6, ENDING_S, controllers))
        broker = up.enter_context(kafka(folders["kafka"]))
        database = up.enter_context(clickhouse(folders["clickhouse"]))
        schema_up(database.writer_url, "sluice", wait_s=LIMIT_S)
        prefix = f"{uuid.uuid4().hex[:8]}_"
        broker.log(prefix, 1)
        decider = Decider(folders["decider"], database.url, broker.bootstrap, prefix, DECIDED)
        up.enter_context(decider.running())
        address = f"127.0.0.1:{free_ports(1)[0]}"
        server = up.enter_context(ExitStack())
        it = Shop(cluster, broker, database, prefix, address, folder, server)
        it.serve()
        it.rows({"front": [f"front-{number}" for number in range(CALLERS)]})
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        cluster.apply(*(item for item in yaml.safe_load_all(CHART.read_text()) if item and item["kind"] in RIGHTS))
        cluster.apply(*service("shop", "cart", 0))
        yield it


def settled(pods: PodLog, calls: CallLog, replicas: int) -> bool:
    return len(pods.alive()) == replicas and calls.called() == pods.alive()


@pytest.mark.parametrize("replicas", [40, 1000])
def test_a_rolling_restart_is_followed(shop: Shop, replicas: int) -> None:
    """Of pods that spans never showed, and of first ones that they do. New pods get calls within 2 s, and those that
    end are left before they are gone."""
    with pod_log(shop.cluster, "shop") as pods, shop.actuator() as pages, call_log(shop.address, "cart") as calls:
        shop.scale(replicas)
        until(f"{replicas} pods are called", lambda: settled(pods, calls, replicas))
        (end, *_) = next(iter(calls.ends.values()))
        assert end.address.startswith("10.128.")
        assert end.address.endswith(f":{PORT}")
        assert {end.zone for ends in calls.ends.values() for end in ends} == {f"zone-{n}" for n in range(6)}
        first = pods.alive()
        shop.rows({"cart": sorted(first)})
        time.sleep(30)  # until latencies are learnt

        began = time.monotonic()
        shop.restart()
        until("all are replaced", lambda: not pods.alive() & first and settled(pods, calls, replicas))
        took = time.monotonic() - began
        until("the old ones ended", lambda: all(pods.lives[name].ended for name in first))
        status = requests.get(f"{pages}/status", timeout=10).json()["containers"]
        new = pods.alive()
        report(pods, calls, first, new, f"{replicas} pods replaced in {took:.1f} s, {status[0]['taken']} lists")

        assert status[0]["live"] == replicas
        assert status[0]["rejected"] == status[0]["failed"] == 0
        assert calls.emptied == 0
        called_dead = [name for name in first if calls.left[name] > (pods.lives[name].ended or 0)]
        assert not called_dead, f"{len(called_dead)} of {len(first)}, as {called_dead[:3]}"
        assert min(end.weight for ends in calls.ends.values() for end in ends) >= 1
        late = {
            name: seen for name in new if (seen := calls.entered[name] - (pods.lives[name].ready or 0)) > IN_A_SUBSET_S
        }
        assert not late, f"{len(late)} of {len(new)}, as {sorted(late.items())[:3]}"


def report(pods: PodLog, calls: CallLog, old: set[str], new: set[str], what: str) -> None:
    entered = sorted(calls.entered[name] - (pods.lives[name].ready or 0) for name in new)
    left = sorted(calls.left[name] - (pods.lives[name].ending or 0) for name in old)
    print(f"{what}, {calls.updates} updates of subsets", flush=True)
    for name, times in (("ready -> in a subset", entered), ("told to end -> in no subset", left)):
        low, middle, high = times[0], times[len(times) // 2], times[-1]
        p95 = times[len(times) * 95 // 100]
        print(f"{name}: {low:.2f} to {high:.2f} s, median {middle:.2f}, p95 {p95:.2f}", flush=True)
