"""10,000 nodes of xDS on one `sluice-server` on a real broker: its memory, its CPU for a change of one subset
and of all.

A node is a stream of ADS, state of the world, that follows the endpoints of one service and acknowledges what it is
sent (`xds_client`, in Go, on grpc-go). Each has a subset of its own. CPU is the process's own: what else runs on the
machine lengthens the times, and hardly that. A change has cost what the server used until it rests again: what comes of
ACKs, which it writes into the log, is in it.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.go_program import built
from bench.watchers import cpu_s, made, resident_kb, serving, talking
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset, SubsetKey
from sluice_kit.journal.shard_log import Log, environment
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import kafka

#: (nodes, HTTP/2 connections): an Envoy has a connection of its own.
SIZES = ((1_000, 1_000), (10_000, 100), (10_000, 10_000))
QUICK = ((100, 100),)
CONTAINERS, SUBSET = 100, 4
CHANGES = 5
SETTLE_S = 2.0
UPSTREAM, SERVICE = "front", "cart"


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    with tempfile.TemporaryDirectory() as directory, kafka(made(Path(directory) / "kafka")) as broker:
        folder = Path(directory)
        client = built("xds_client", folder)
        rows = []
        for size in QUICK if quick else SIZES:
            rows += measure(Log(broker), folder, client, *size)
        return rows


def measure(log: Log, folder: Path, client: Path, nodes: int, connections: int) -> list[tuple[str, str]]:
    port, pages = free_ports(2)
    variables = environment(log, f"127.0.0.1:{port}") | {"SLUICE_METRICS": f"127.0.0.1:{pages}"}
    said = Subsets(log, nodes)
    said.all()
    with serving(variables, folder) as ours, talking(client) as (ask, _):
        before_kb, began_s = resident_kb(ours), cpu_s(ours)
        opened_s = ask(f"open 127.0.0.1:{port} {nodes} {connections} {UPSTREAM} {SERVICE}")["seconds"]
        rest(ours)
        opened_cpu_s = cpu_s(ours) - began_s
        during_kb = resident_kb(ours)
        costs = {}
        for hear, change in ((1, said.one), (nodes, said.all)):
            cpu, last, others = [], [], 0
            for _ in range(CHANGES):
                ask(f"hear {hear}")
                before_s, at = cpu_s(ours), time.monotonic()
                change()
                told = ask("times")
                last.append(float(np.max(told["at_ns"])) / 1e9 - at)
                rest(ours)
                cpu.append(cpu_s(ours) - before_s)
                others, broken = others + told["others"], told["broken"]
            assert others == 0 or broken, f"{others} responses to nodes of which nothing changed"
            costs[hear] = statistics.median(cpu), statistics.median(last)
    if broken:
        print(f"{broken} streams of {nodes} ended, and were opened again: the machine was too busy", file=sys.stderr)
    many = f"**{nodes:,} nodes on {connections:,} connections**"
    (one_cpu, one_last), (all_cpu, all_last) = costs[1], costs[nodes]
    return [
        (
            f"{many}: memory of the server without and with them, a node",
            f"{before_kb / 1e3:.0f} MB, {during_kb / 1e3:.0f} MB, {(during_kb - before_kb) / nodes:.0f} kB",
        ),
        (
            "all have endpoints after; CPU of the server, a node",
            f"{opened_s:.1f} s; {1e3 * opened_cpu_s / nodes:.2f} ms",
        ),
        (
            "CPU of the server: one node's subset changes",
            f"{1e3 * one_cpu:.0f} ms, with it after {1e3 * one_last:.0f} ms",
        ),
        (
            "CPU of the server: every node's subset changes, and is acknowledged",
            f"{1e3 * all_cpu:.0f} ms, {1e6 * all_cpu / nodes:.0f} us a node; the last in {1e3 * all_last:.0f} ms",
        ),
    ]


def rest(pid: int) -> None:
    """Until it uses less than a hundredth of a core."""
    used = -1.0
    while (now := cpu_s(pid)) - used > 0.01 * SETTLE_S:
        used = now
        time.sleep(SETTLE_S)


class Subsets:
    """Of a service with a container for each node, towards one with CONTAINERS. What changes is a weight."""

    def __init__(self, log: Log, nodes: int) -> None:
        self._log, self._nodes, self._revision = log, nodes, 0
        there = ServiceContainers(service=SERVICE)
        there.containers.extend(Container(instance=f"{SERVICE}-{at}", address=_address(at)) for at in range(CONTAINERS))
        log.commit(("decisions", f"containers/{SERVICE}", there))

    def one(self) -> None:
        self._say([0])

    def all(self) -> None:
        self._say(range(self._nodes))

    def _say(self, nodes: Sequence[int]) -> None:
        self._revision += 1
        self._log.commit(
            *(("decisions", f"subset/{UPSTREAM}/{UPSTREAM}-{node}/{SERVICE}", self._subset(node)) for node in nodes)
        )

    def _subset(self, node: int) -> Subset:
        ends = sorted((node + at * CONTAINERS // SUBSET) % CONTAINERS for at in range(SUBSET))
        return Subset(
            key=SubsetKey(upstream=UPSTREAM, instance=f"{UPSTREAM}-{node}", downstream=SERVICE),
            state=STATE_PROVIDED,
            endpoints=[
                Endpoint(
                    instance=f"{SERVICE}-{at}", address=_address(at), weight=100 + self._revision * (at == ends[0])
                )
                for at in ends
            ],
            strategy="microns",
            revision=self._revision,
        )


def _address(container: int) -> str:
    return f"10.0.0.{container + 1}:80"
