"""The demo's containers of suggest call by the subsets that a server has of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until
from testbed.proxyless import Proxyless


def picks(clients: Proxyless, caller: str, count: int) -> Counter[str]:
    chosen: Counter[str] = Counter()

    def enough() -> bool:
        while (name := clients.pick(caller)) is not None:
            chosen[name] += 1
        return chosen.total() >= count

    until(f"{caller} chooses", enough)
    return chosen


def test_each_container_follows_its_own_subset(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    addresses = {f"b-{number}": f"127.0.0.1:{port}" for number, port in enumerate(free_ports(3), 1)}
    shares = {"a-1": {"b-1": 3, "b-2": 1}, "a-2": {"b-3": 1}}
    everybody = ServiceContainers(
        service="b", containers=[Container(instance=name, address=address) for name, address in addresses.items()]
    )
    records = []
    for instance, weights in shares.items():
        key = SubsetKey("a", instance, "b")
        ends = [Endpoint(instance=name, address=addresses[name], weight=weight) for name, weight in weights.items()]
        subset = Subset(key=message_of(key), state=STATE_PROVIDED, revision=1, endpoints=ends)
        records.append(("decisions", subset_name(key), subset))
    log.commit(("decisions", containers_name("b"), everybody), *records, lease_s=600)
    with serving_at(log, tmp_path, {}) as recommender:
        clients = Proxyless(recommender, "a", ["a-1", "a-2", "a-3"], "b", addresses)
        try:
            assert picks(clients, "a-1", 40)["b-1"] / 40 == pytest.approx(0.75, abs=0.1)
            assert picks(clients, "a-2", 10).keys() == {"b-3"}
            assert picks(clients, "a-3", 12).keys() == set(addresses), "without a subset: all"
        finally:
            clients.stop()
