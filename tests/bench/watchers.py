"""10,000 watchers on one recommender: memory of the server, and how long a change takes to reach the last of them.

Server and watchers are two processes on this machine, which share its CPU. The watchers are goroutines of
`watch_client`, since 10,000 of them in Python need more CPU than the server that they measure.
"""

import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog
from sluice.serve.server import Server
from sluice.serve.service import PoolSizeService

CLIENT = Path(__file__).with_name("watch_client")
GO = Path(__file__).parents[2] / ".cache/venvs/go/bin"
#: (watchers, HTTP/2 connections): an actuator has a connection of its own; behind a proxy they share some.
SIZES = ((1_000, 1_000), (10_000, 100), (10_000, 10_000))
QUICK = ((100, 100), (1_000, 10))
CHANGES = 5


class Measured(NamedTuple):
    """delays_s: for each change an array of one a watcher."""

    opened_s: float
    delays_s: list[np.ndarray]
    server_cpu_s: float
    before_mb: float
    during_mb: float


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    with tempfile.TemporaryDirectory() as directory:
        client = Path(directory) / "watch_client"
        go = shutil.which("go", path=f"{GO}{os.pathsep}{os.environ['PATH']}")
        assert go is not None, "no go on PATH: `make setup` installs it"
        subprocess.run([go, "build", "-o", client, "."], cwd=CLIENT, check=True, env=os.environ | {"CGO_ENABLED": "0"})
        alone = measure(client, 1, 1)
        many = [(size, measure(client, *size)) for size in (QUICK if quick else SIZES)]
    last_ms = _ms(alone.delays_s, 1.0)
    rows = [("reference: a change reaches the only watcher after", f"{last_ms:.1f} ms")]
    for (watchers, connections), figures in many:
        first, half, last = (_ms(figures.delays_s, q) for q in (0.0, 0.5, 1.0))
        each_kb = (figures.during_mb - figures.before_mb) * 1e3 / watchers
        rows += [
            (
                f"**{watchers:,} watchers on {connections:,} connections**: all have their first state after",
                f"{figures.opened_s:.1f} s",
            ),
            ("a change reaches the first, half and the last of them after", f"{first:.0f}, {half:.0f}, {last:.0f} ms"),
            (
                "CPU of the server a change, in all and a watcher",
                f"{figures.server_cpu_s * 1e3:.0f} ms, {figures.server_cpu_s / watchers * 1e6:.0f} us",
            ),
            ("memory of the server without and with them", f"{figures.before_mb:.0f} MB, {figures.during_mb:.0f} MB"),
            ("memory a watcher", f"{each_kb:.0f} kB"),
        ]
    return rows


def _ms(delays: list[np.ndarray], quantile: float) -> float:
    """Median over changes of a quantile over watchers."""
    return 1e3 * float(np.median([np.quantile(change, quantile) for change in delays]))


def measure(client: Path, watchers: int, connections: int) -> Measured:
    with recommender() as (pipe, port), _watchers(client) as ask:
        before_mb = _ask(pipe, "memory")
        opened_s = ask(f"open 127.0.0.1:{port} {watchers} {connections}")["seconds"]
        delays, cpu = [], []
        for _ in range(CHANGES):
            ask("hear")
            time.sleep(0.5)
            cpu_before = _ask(pipe, "cpu")
            at = _ask(pipe, "change")
            delays.append(np.array(ask("times")["at_ns"]) / 1e9 - at)
            cpu.append(_ask(pipe, "cpu") - cpu_before)
        during_mb = _ask(pipe, "memory")
        ask("close")
    return Measured(opened_s, delays, float(np.median(cpu)), before_mb, during_mb)


@contextmanager
def recommender() -> Iterator[tuple[Connection, int]]:
    """The server in a process of its own: what takes its words, and its port."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield here, here.recv()
    finally:
        here.send("stop")
        process.join()


@contextmanager
def _watchers(client: Path) -> Iterator[Any]:
    process = subprocess.Popen([client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(word: str) -> dict[str, Any]:
        print(word, file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, f"the watchers ended on {word!r}"
        return dict(json.loads(answer))

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait()


def _ask(pipe: Connection, word: str) -> float:
    pipe.send(word)
    return float(pipe.recv())


def _serve(pipe: Connection) -> None:
    """The recommender's own server and loop over made windows; "change" makes another answer, and tells when."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536)), hard))
    clock, store, sizes = FakeClock(), Store(), Sizes()
    collector = FakeCollector({CART: hump()})
    loop = ControlLoop(config(), collector, FakeHistory(), MemoryStateLog(), store, sizes, clock)
    server = Server(PoolSizeService(store, sizes, FakeHistory(), clock, heartbeat_s=600), "127.0.0.1:0")
    server.start()
    loop.step()
    pipe.send(server.port)
    size = 1
    while (word := pipe.recv()) != "stop":
        if word == "memory":
            pipe.send(_resident_mb())
        elif word == "cpu":
            pipe.send(time.process_time())
        else:
            size += 1
            sizes.report(CART, size, clock())
            at = time.monotonic()
            loop.step()
            pipe.send(at)
    server.stop(0)


def _resident_mb() -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1000
