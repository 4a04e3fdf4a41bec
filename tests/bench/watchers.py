"""10,000 watchers of one `sluice-server` on a real broker: its memory, how long a change takes to reach the last of
them, and what it costs when all of them come back after a restart.

A change is a transaction: it is timed from when its commit is asked for, so that the broker's part is in it. Server and
watchers (`watch_client`, in Go, which does no more than HTTP/2) share the machine's CPU, and the share of each is told.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

from bench.go_program import built
from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import BINARY, Log, environment
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.kafka import kafka

#: (watchers, HTTP/2 connections): an actuator has a connection of its own; behind a proxy they share some.
SIZES = ((1_000, 1_000), (10_000, 100), (10_000, 10_000))
QUICK = ((100, 100),)
CHANGES = 7
SETTLE_S = 2.0
TICKS_S = os.sysconf("SC_CLK_TCK")


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    with tempfile.TemporaryDirectory() as directory, kafka(made(Path(directory) / "kafka")) as broker:
        folder = Path(directory)
        client = built("watch_client", folder)
        rows = measure(Log(broker), folder, client, 1, 1)[:1]
        for size in QUICK if quick else SIZES:
            rows += measure(Log(broker), folder, client, *size)
        rows += measure(Log(broker), folder, client, *(QUICK if quick else SIZES)[-1], secure=True)
    return rows


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def measure(
    log: Log, folder: Path, client: Path, watchers: int, connections: int, secure: bool = False
) -> list[tuple[str, str]]:
    port, pages = free_ports(2)
    variables = environment(log, f"127.0.0.1:{port}") | {"SLUICE_HEALTH": f"127.0.0.1:{pages}"}
    words = f"open 127.0.0.1:{port} {watchers} {connections}"
    if secure:
        variables |= {"SLUICE_TLS_CERT": f"{folder}/cert.pem", "SLUICE_TLS_KEY": f"{folder}/key.pem"}
        words += f" {folder}/cert.pem"
    change = Changes(log)
    change.commit()
    with talking(client) as (ask, theirs):
        ask(f"certify {folder}")
        with serving(variables, folder) as ours:
            before_kb = resident_kb(ours)
            opened_s = ask(words)["seconds"]
            delays, own, clients = [], [], []
            for _ in range(CHANGES):
                ask("hear")
                time.sleep(SETTLE_S)
                cpu = own_cpu_s(ours), cpu_s(theirs)
                at = time.monotonic()
                change.commit()
                delays.append(np.array(ask("times")["at_ns"]) / 1e9 - at)
                own.append(own_cpu_s(ours) - cpu[0])
                clients.append(cpu_s(theirs) - cpu[1])
            during_kb = resident_kb(ours)
        with serving(variables, folder) as ours:
            again = ask("resume")
            resumed_cpu_s = cpu_s(ours)
    first, half, last = (1e3 * statistics.median(np.quantile(delay, q) for delay in delays) for q in (0.0, 0.5, 1.0))
    (user_s, kernel_s), clients_s = np.median(own, axis=0), statistics.median(clients)
    many = f"**{watchers:,} watchers on {connections:,} connections{', TLS' if secure else ''}**"
    return [
        (f"{many}: a change is with the first, half, the last after", f"{first:.0f}, {half:.0f}, {last:.0f} ms"),
        (
            "CPU of a change: the server's code, the kernel for it, a watcher of each; watchers",
            f"{user_s * 1e3:.0f} ms, {kernel_s * 1e3:.0f} ms, {user_s / watchers * 1e6:.1f} and"
            f" {kernel_s / watchers * 1e6:.1f} µs; {clients_s * 1e3:.0f} ms",
        ),
        ("all have their first state after", f"{opened_s:.1f} s"),
        (
            "memory of the server without and with them, a watcher",
            f"{before_kb / 1e3:.0f} MB, {during_kb / 1e3:.0f} MB, {(during_kb - before_kb) / watchers:.0f} kB",
        ),
        (
            "after a restart, from the first to the last that is where it was; sent everything; CPU of the server",
            f"{again['seconds']:.1f} s; {again['whole']:,}; {resumed_cpu_s:.1f} s",
        ),
    ]


class Changes:
    """Each is another answer for one pool."""

    def __init__(self, log: Log) -> None:
        self._log, self._revision = log, 0

    def commit(self) -> None:
        self._revision += 1
        pool = Pool(service="cart", side=SIDE_SERVER)
        size = PoolSize(
            pool=pool, state=STATE_PROVIDED, action=ACTION_APPLY, target=self._revision, revision=self._revision
        )
        self._log.commit(("decisions", "pool/cart/server/", size), lease_s=3_600)


@contextmanager
def serving(variables: Mapping[str, str], folder: Path) -> Iterator[int]:
    address = variables["SLUICE_HEALTH"]
    with running("server", [BINARY], lambda: _ready(address), folder / "server.log", 60, variables) as process:
        yield process.pid


@contextmanager
def talking(client: Path) -> Iterator[tuple[Any, int]]:
    process = subprocess.Popen([client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(word: str) -> dict[str, Any]:
        print(word, file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, f"the watchers ended on {word!r}"
        return dict(json.loads(answer))

    try:
        yield ask, process.pid
    finally:
        process.stdin.close()
        process.wait()


def _ready(metrics: str) -> bool:
    try:
        return b"\nsluice_server_ready 1\n" in urlopen(f"http://{metrics}/metrics", timeout=5).read()
    except OSError:
        return False


def cpu_s(pid: int) -> float:
    return float(own_cpu_s(pid).sum())


def own_cpu_s(pid: int) -> np.ndarray:
    """(2,): in the process's own code, and in the kernel for it."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return np.array([int(after_name[11]), int(after_name[12])]) / TICKS_S


def resident_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
