"""Clients as they are published (gRPC of Python and of Java by xds:///, Envoy by state of the world and by delta) under
load, while the server and the journal are killed for a minute: no call fails, and no client gets an answer twice."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.applications.stock_clients import (
    Backend,
    Caller,
    backends,
    caller,
    envoy,
    envoy_binary,
    grpc_bootstrap,
    java_program,
)
from sluice_kit.journal.shard_log import BINARY, LIMIT_S, Log, environment, ready
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until

AWAY_S = 60
CALLS = 1000
NEAR = 0.06


@contextmanager
def server_at(log: Log, address: str, pages: int, folder: Path) -> Iterator[None]:
    """A server that has read the journal, and is killed when the block ends."""
    variables = {**environment(log, address), "SLUICE_HEALTH": f"127.0.0.1:{pages}"}
    with running("server", [BINARY], lambda: ready(address), folder / "server.log", LIMIT_S, variables) as process:
        yield
        process.kill()


def connect(log: Log, of: dict[str, Backend], revision: int, **weights: int) -> None:
    """Each client's container is connected to the containers of b, by their names with _ for -."""
    everybody = ServiceContainers(
        service="b",
        containers=[Container(instance=name, address=backend.address) for name, backend in sorted(of.items())],
    )
    endpoints = [
        Endpoint(instance=name, address=backend.address, weight=weights[name.replace("-", "_")])
        for name, backend in sorted(of.items())
        if name.replace("-", "_") in weights
    ]
    keys = [SubsetKey("a", instance, "b") for instance in ("a-1", "a-2", "a-3", "a-4")]
    subsets = [
        Subset(key=message_of(key), state=STATE_PROVIDED, revision=revision, endpoints=endpoints) for key in keys
    ]
    log.commit(
        ("decisions", containers_name("b"), everybody),
        *(("decisions", subset_name(key), subset) for key, subset in zip(keys, subsets, strict=True)),
    )


def near(shares: dict[str, float], **want: float) -> bool:
    return shares.keys() == {name.replace("_", "-") for name in want} and all(
        abs(shares[name.replace("_", "-")] - share) < NEAR for name, share in want.items()
    )


def come(callers: list[Caller], **want: float) -> None:
    for client in callers:
        until(f"{client.name} calls {want}", lambda client=client: near(client.shares(CALLS), **want))


def metric(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def test_the_server_and_the_log_are_killed(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    server, pages, *doors = free_ports(4)
    address = f"127.0.0.1:{server}"
    binary, java = envoy_binary(tmp_path), java_program(tmp_path)
    with ExitStack() as up, ExitStack() as served:
        of = up.enter_context(backends("b-1", "b-2", "b-3"))
        connect(log, of, 1, b_1=3, b_2=1)
        served.enter_context(server_at(log, address, pages, tmp_path))
        bootstrap = grpc_bootstrap(address, "a~a-1")
        callers = [up.enter_context(caller("grpc", "xds:///b", tmp_path, bootstrap))]
        bootstrap = grpc_bootstrap(address, "a~a-4")
        callers.append(up.enter_context(caller("grpc-java", "xds:///b", tmp_path, bootstrap, java)))
        for number, kind in enumerate(("GRPC", "DELTA_GRPC")):
            up.enter_context(envoy(binary, address, f"a~a-{number + 2}", kind, doors[number], tmp_path))
            callers.append(up.enter_context(caller(f"envoy {kind}", f"127.0.0.1:{doors[number]}", tmp_path)))
        come(callers, b_1=0.75, b_2=0.25)
        connect(log, of, 2, b_2=1, b_3=1)
        come(callers, b_2=0.5, b_3=0.5)
        assert metric(pages, 'sluice_xds_answers_total{outcome="REFUSED"') == 0

        served.close()
        broker.process.kill()
        gone = time.monotonic()
        while time.monotonic() < gone + AWAY_S:
            come(callers, b_2=0.5, b_3=0.5)
        with broker.again():
            served.enter_context(server_at(log, address, pages, tmp_path))
            until("all are there again", lambda: metric(pages, "sluice_xds_streams ") == len(callers))
            come(callers, b_2=0.5, b_3=0.5)
            assert metric(pages, "sluice_xds_responses_total") == 0
            connect(log, of, 3, b_1=1, b_3=3)
            come(callers, b_1=0.25, b_3=0.75)
