"""cart on a real API server up to the subsets of its callers: EndpointSlices, the shipped actuator with the chart's
rights, server, Kafka, decider. Spans show the callers.

KWOK has nodes and pods; a pod that ends serves for ENDING_S.
"""

import math
import os
import socket
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from migrate.__main__ import schema_up
from sluice_kit.applications.kube_service import service
from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.programs.decider import Decider
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.kafka import Kafka, kafka
from sluice_kit.servers.kubernetes import Kubernetes, kubernetes
from stack.installs import BIN
from stack.settings import REPOSITORY

CHART = REPOSITORY / "deploy/helm/examples/actuator-containers/rendered.yaml"
RIGHTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")
CALLERS, ENDING_S, LIMIT_S = 20, 20.0, 200.0
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
        command: list[str | Path] = [BIN / "sluice-actuator", "--config", config]
        with running("actuator", command, answers(f"{pages}/readyz"), self.folder / f"actuator-{page}.log", 60):
            yield pages

    def scale(self, replicas: int) -> None:
        self.cluster.kubectl("scale", "-n", "shop", "deployment/cart", f"--replicas={replicas}")

    def restart(self) -> None:
        self.cluster.kubectl("rollout", "restart", "-n", "shop", "deployment/cart")


@contextmanager
def container_shop(folder: Path) -> Iterator[Shop]:
    """Everything but an actuator; cart has no pod yet."""
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


@contextmanager
def way(to: str, at: int, folder: Path) -> Iterator[None]:
    """To an API server, by a port of its own. Its end breaks all connections, and the port refuses further ones."""
    command: list[str | Path] = [sys.executable, "-m", "sluice_kit.servers.proxy", str(at), to.rpartition(":")[2]]
    variables = os.environ | {"PYTHONPATH": str(REPOSITORY / "tests/kit")}

    def listens() -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", at)) == 0

    with running("way", command, listens, folder / f"way-{at}.log", LIMIT_S, variables) as process:
        yield
        process.kill()
