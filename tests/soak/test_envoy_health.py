"""A stock Envoy with subsets of 2 to 4: it ejects bad endpoints and keeps the good one, leaves those that are not
ready, and goes by weights where localities are zones. Clusters come over CDS, with the settings of docs/xds.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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

DETECTION = {"consecutive_5xx": 2, "interval": "0.2s", "base_ejection_time": "300s", "max_ejection_percent": 100}
PANIC_OF_1 = {"*": {"common_lb_config": {"healthy_panic_threshold": {"value": 1}}}}
BY_LOCALITY: dict[str, Any] = {"*": {"common_lb_config": {"locality_weighted_lb_config": {}}}}
#: So many requests reach each container several times.
REQUESTS = 60


def connect(log: Log, of: dict[str, HealthContainer], weights: dict[str, int], not_ready: str = "") -> None:
    """a-1's subset. Names with a + are in zone z2, the others in z1. not_ready: names, with spaces between."""
    zone = {name: "z2" if name.endswith("+") else "z1" for name in of}
    key = SubsetKey("a", "a-1", "b")
    containers = [
        Container(instance=name, address=one.address, zone=zone[name], not_ready=name in not_ready.split())
        for name, one in sorted(of.items())
    ]
    ends = [
        Endpoint(instance=name, address=of[name].address, zone=zone[name], weight=weight)
        for name, weight in sorted(weights.items())
    ]
    log.commit(
        ("decisions", containers_name("b"), ServiceContainers(service="b", containers=containers)),
        (
            "decisions",
            subset_name(key),
            Subset(key=message_of(key), state=STATE_PROVIDED, revision=1, endpoints=ends),
        ),
        lease_s=600,
    )


@contextmanager
def envoy_with(log: Log, folder: Path, variables: dict[str, str]) -> Iterator[int]:
    """The port of an Envoy whose clusters come from a server with these variables."""
    server, door = free_ports(2)
    address = f"127.0.0.1:{server}"
    binary = envoy_binary(folder)
    with (
        serving_at(log, folder, {**variables, "SLUICE_RECOMMENDER": address}),
        started(binary, envoy_by_cds(address, "a~a-1", "GRPC", door), door, lambda: listens(door), folder),
    ):
        until("Envoy has endpoints", lambda: {status for _, status in ask(door, 5)} == {200})
        yield door


def test_the_good_one_of_three_is_kept_and_all_are_called_where_none_is_good(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    variables = {"SLUICE_XDS_OUTLIER_DETECTION": json.dumps(DETECTION), "SLUICE_XDS_CLUSTERS": json.dumps(PANIC_OF_1)}
    with health_containers("b-1", "b-2", "b-3") as of:
        connect(log, of, dict.fromkeys(of, 1))
        with envoy_with(log, tmp_path, variables) as door:
            assert ask(door, REQUESTS).keys() == {("b-1", 200), ("b-2", 200), ("b-3", 200)}
            of["b-2"].status = of["b-3"].status = 503
            until("only b-1 is called", lambda: ask(door, REQUESTS) == {("b-1", 200): REQUESTS})
            of["b-1"].status = 503
            until("in panic all are called", lambda: {name for name, _ in ask(door, REQUESTS)} == set(of))


def test_by_envoys_own_threshold_a_subset_of_three_is_in_panic_with_one_good(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    with health_containers("b-1", "b-2", "b-3") as of:
        connect(log, of, dict.fromkeys(of, 1))
        with envoy_with(log, tmp_path, {"SLUICE_XDS_OUTLIER_DETECTION": json.dumps(DETECTION)}) as door:
            of["b-2"].status = 503
            until("b-2 is left", lambda: "b-2" not in {name for name, _ in ask(door, REQUESTS)})
            of["b-3"].status = 503
            until("b-2 is called again", lambda: "b-2" in {name for name, _ in ask(door, REQUESTS)})


@pytest.mark.parametrize("localities", ["container", "zone"])
def test_what_is_not_ready_is_left_unless_all_are(broker: Kafka, tmp_path: Path, localities: str) -> None:
    log = Log(broker)
    variables = {"SLUICE_XDS_CLUSTERS": json.dumps(PANIC_OF_1), "SLUICE_XDS_LOCALITIES": localities}
    with health_containers("b-1", "b-2", "b-3") as of:
        connect(log, of, {"b-1": 1, "b-2": 1}, not_ready="b-2 b-3")
        with envoy_with(log, tmp_path, variables) as door:
            assert ask(door, REQUESTS) == {("b-1", 200): REQUESTS}
            connect(log, of, {"b-1": 1, "b-2": 1}, not_ready="b-1 b-2 b-3")
            until("the subset is called", lambda: {name for name, _ in ask(door, REQUESTS)} == {"b-1", "b-2"})


def test_shares_are_those_of_the_weights_where_localities_are_zones(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    variables = {"SLUICE_XDS_CLUSTERS": json.dumps(BY_LOCALITY), "SLUICE_XDS_LOCALITIES": "zone"}
    with health_containers("b-1", "b-2", "b-3+") as of:
        connect(log, of, {"b-1": 3, "b-2": 1, "b-3+": 1})
        with envoy_with(log, tmp_path, variables) as door:
            answers = ask(door, 500)
            shares = {name: answers[name, 200] / 500 for name in of}
            assert shares == pytest.approx({"b-1": 0.6, "b-2": 0.2, "b-3+": 0.2}, abs=0.03)
