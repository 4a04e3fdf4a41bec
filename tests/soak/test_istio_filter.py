"""The patches of deploy/istio at a stock Envoy: it has the node of a sidecar, a cluster as istiod makes it, and takes
the endpoints of its subset from sluice-server alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.applications.health_http import HealthContainer, ask, health_containers
from sluice_kit.applications.stock_clients import envoy_binary, envoy_by_cds, listens, started
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until
from stack.settings import REPOSITORY

SIDECAR = {"NAME": "frontend-1", "NAMESPACE": "shop", "LABELS": {"app": "frontend"}}


def connect(log: Log, of: dict[str, HealthContainer], revision: int, **weights: int) -> None:
    key = SubsetKey("frontend", "frontend-1", "cart")
    ends = [Endpoint(instance=name, address=of[name].address, weight=weight) for name, weight in weights.items()]
    containers = [Container(instance=name, address=one.address) for name, one in of.items()]
    log.commit(
        ("decisions", containers_name("cart"), ServiceContainers(service="cart", containers=containers)),
        (
            "decisions",
            subset_name(key),
            Subset(key=message_of(key), state=STATE_PROVIDED, revision=revision, endpoints=ends),
        ),
        lease_s=600,
    )


def patched(server: str, door: int) -> dict[str, Any]:
    """A bootstrap with the example's patches, as a sidecar has them. server: the address in place of the example's."""
    bootstrap, cluster = yaml.safe_load_all((REPOSITORY / "deploy/istio/envoy-filter.yaml").read_text())
    (source,) = bootstrap["spec"]["configPatches"][0]["patch"]["value"]["static_resources"]["clusters"]
    host, _, port = server.rpartition(":")
    (endpoint,) = source["load_assignment"]["endpoints"][0]["lb_endpoints"]
    endpoint["endpoint"]["address"]["socket_address"] = {"address": host, "port_value": int(port)}
    (patch,) = cluster["spec"]["configPatches"]
    name = "outbound|{portNumber}||{service}".format(**patch["match"]["cluster"])
    config = envoy_by_cds(server, "sidecar~10.0.0.1~frontend-1.shop~shop.svc.cluster.local", "GRPC", door)
    config["node"]["metadata"] = SIDECAR
    del config["dynamic_resources"]
    static = config["static_resources"]
    static["clusters"] = [source, {"name": name, "type": "EDS", "connect_timeout": "10s", **patch["patch"]["value"]}]
    manager = static["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    manager["route_config"]["virtual_hosts"][0]["routes"][0]["route"]["cluster"] = name
    return config


def test_a_sidecar_follows_its_subset(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    server, door = free_ports(2)
    address = f"127.0.0.1:{server}"
    with health_containers("c1", "c2", "c3") as of:
        connect(log, of, 1, c1=3, c3=1)
        with (
            serving_at(log, tmp_path, {"SLUICE_RECOMMENDER": address}),
            started(envoy_binary(tmp_path), patched(address, door), door, lambda: listens(door), tmp_path),
        ):
            assert ask(door, 100) == {("c1", 200): 75, ("c3", 200): 25}
            connect(log, of, 2, c2=1)
            until("only c2 is called", lambda: ask(door, 20) == {("c2", 200): 20})
