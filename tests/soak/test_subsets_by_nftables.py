"""The shipped actuator between the real server and real connections: whom a caller that does not speak xDS reaches by
the service's address is what the journal says, also while server and journal are away; and the journal is told."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
from confluent_kafka import Consumer

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.delivery_pb2 import DeliveryOutcome
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers, SubsetReport
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.journal.shard_log import Log, killed
from sluice_kit.machine.network import namespace
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until
from stack.installs import BIN

VIRTUAL = "127.9.9.9:80"
CONTAINERS = ("127.0.1.1:8080", "127.0.1.2:8080", "127.0.1.3:8080")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another namespace's kernel is written by root only")


def connect(log: Log, revision: int, *weights: int) -> None:
    """front-1 is connected to the containers of cart, as weights say; 0: it is not."""
    every = [Container(instance=f"cart-{n}", address=address) for n, address in enumerate(CONTAINERS)]
    endpoints = [
        Endpoint(instance=container.instance, address=container.address, weight=weight)
        for container, weight in zip(every, weights, strict=True)
        if weight
    ]
    key = SubsetKey("front", "front-1", "cart")
    subset = Subset(key=message_of(key), state=STATE_PROVIDED, revision=revision, endpoints=endpoints)
    log.commit(
        ("decisions", containers_name("cart"), ServiceContainers(service="cart", containers=every)),
        ("decisions", subset_name(key), subset),
    )


def delivered(log: Log) -> list[tuple[str, int, str]]:
    """Outcome, revision and teller of all reports in the journal."""
    consumer = Consumer(
        {"bootstrap.servers": log.bootstrap, "group.id": "test", "auto.offset.reset": "earliest",
         "enable.partition.eof": True, "enable.auto.commit": False}
    )  # fmt: skip
    consumer.subscribe([f"{log.prefix}reports"])
    deliveries = []
    try:
        while (message := consumer.poll(10)) is not None and not message.error():
            if (message.key() or b"").startswith(b"subset/"):
                delivery = SubsetReport.FromString(message.value() or b"").delivery
                deliveries.append(
                    (DeliveryOutcome.Name(delivery.outcome).split("_", 2)[2], delivery.revision, delivery.client)
                )
    finally:
        consumer.close()
    return deliveries


def test_connections_are_spread_as_the_log_says(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    server, page = free_ports(2)
    address = f"127.0.0.1:{server}"
    connect(log, 1, 2, 1, 0)
    with ExitStack() as up, ExitStack() as served:
        kernel, reached = up.enter_context(namespace(CONTAINERS))
        config = tmp_path / "actuator.yaml"
        subset = {
            "name": "front-cart", "upstream": "front", "instance": "front-1", "downstream": "cart", "apply": True,
            "cooldown": "0s", "remove_on_exit": True, "nftables": {"virtual": VIRTUAL, "netns": str(kernel)},
        }  # fmt: skip
        settings = {"name": "long", "status_address": f"127.0.0.1:{page}", "recommender": {"address": address}}
        config.write_text(json.dumps({**settings, "subsets": [subset]}))
        served.enter_context(killed(log, address, tmp_path))
        assert reached(VIRTUAL, 1) == {}
        actuator = up.enter_context(
            running(
                "actuator",
                [BIN / "sluice-actuator", "--config", config],
                answers(f"http://127.0.0.1:{page}/readyz"),
                tmp_path / "actuator.log",
                60,
            )
        )
        until("the first", lambda: reached(VIRTUAL, 12) == {CONTAINERS[0]: 8, CONTAINERS[1]: 4})
        connect(log, 2, 0, 1, 3)
        until("the second", lambda: reached(VIRTUAL, 12) == {CONTAINERS[1]: 3, CONTAINERS[2]: 9})
        until("both are told", lambda: delivered(log) == [("APPLIED", 1, "long"), ("APPLIED", 2, "long")])

        served.close()
        broker.process.kill()
        until(
            "the loss is seen",
            lambda: not requests.get(f"http://127.0.0.1:{page}/status", timeout=10).json()["recommender"]["reachable"],
        )
        assert reached(VIRTUAL, 8) == {CONTAINERS[1]: 2, CONTAINERS[2]: 6}
        with broker.again():
            served.enter_context(killed(log, address, tmp_path))
            connect(log, 3, 1, 0, 0)
            until("the third", lambda: reached(VIRTUAL, 5) == {CONTAINERS[0]: 5})
        actuator.terminate()
        actuator.wait(60)
        assert reached(VIRTUAL, 1) == {}
