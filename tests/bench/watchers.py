"""10,000 watchers on one recommender: memory of the server, and how long a change takes to reach the last of them.

Server and watchers are two processes on this machine: half of the CPU that a change costs is the watchers' own.
"""

import asyncio
import multiprocessing
import time
from multiprocessing.connection import Connection

import grpc
import numpy as np

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.serve.loop import ControlLoop
from sluice.serve.server import Server
from sluice.serve.service import PoolSizeService
from sluice.serve.sizes import Sizes
from sluice.serve.store import Store
from sluice.v1 import pool_size_service_pb2 as api
from sluice.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

WATCHERS = 10_000
CHANNELS = 500
"""HTTP/2 connections: an actuator has one of its own, but this process has not 10,000 ports to spare."""
CHANGES = 5


def run() -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    port, before_mb = here.recv()
    try:
        one, many = asyncio.run(_both(here, port))
        during_mb = here.recv()
    finally:
        here.send("stop")
        server.join()
    alone = _seconds(one)
    first, median, last = (_seconds(many, q) for q in (0.0, 0.5, 1.0))
    return [
        ("reference: a change reaches the only watcher after", f"{alone * 1e3:.1f} ms"),
        (f"a change reaches the first of {WATCHERS:,} watchers after", f"{first * 1e3:.0f} ms"),
        ("half of them after", f"{median * 1e3:.0f} ms"),
        ("the last one after", f"{last * 1e3:.0f} ms"),
        ("memory of the server without and with them", f"{before_mb:.0f} MB, {during_mb:.0f} MB"),
        ("memory a watcher", f"{(during_mb - before_mb) * 1e3 / WATCHERS:.0f} kB"),
    ]


def _seconds(delays: list[np.ndarray], quantile: float = 1.0) -> float:
    """Median over changes of a quantile over watchers."""
    return float(np.median([np.quantile(change, quantile) for change in delays]))


def _serve(pipe: Connection) -> None:
    """The recommender's own server and loop over made windows; "change" makes another answer, and tells when."""
    clock, store, sizes = FakeClock(), Store(), Sizes()
    collector = FakeCollector({CART: hump()})
    loop = ControlLoop(config(), collector, FakeHistory(), store, sizes, clock)
    server = Server(PoolSizeService(store, sizes, FakeHistory(), clock, heartbeat_s=600), "127.0.0.1:0")
    server.start()
    loop.step()
    pipe.send((server.port, _resident_mb()))
    while (word := pipe.recv()) != "stop":
        if word == "memory":
            pipe.send(_resident_mb())
            continue
        sizes.report(CART, sizes.current(CART, clock()) or 1, clock())
        sizes.report(CART, (sizes.current(CART, clock()) or 1) + 1, clock())
        pipe.send(time.monotonic())
        loop.step()
    server.stop(0)


def _resident_mb() -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1000


async def _both(pipe: Connection, port: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return await _watch(pipe, port, 1), await _watch(pipe, port, WATCHERS)


async def _watch(pipe: Connection, port: int, watchers: int) -> list[np.ndarray]:
    """Delays in seconds, for each change an array of one a watcher."""
    channels = [
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)])
        for _ in range(min(CHANNELS, watchers))
    ]
    streams = [
        PoolSizeServiceStub(channels[n % len(channels)]).WatchPoolSizes(api.WatchPoolSizesRequest(service="cart"))
        for n in range(watchers)
    ]
    await asyncio.gather(*(_batch(stream) for stream in streams))
    delays = []
    for _ in range(CHANGES):
        heard = [asyncio.ensure_future(_batch(stream)) for stream in streams]
        await asyncio.sleep(0.5)
        pipe.send("change")
        await asyncio.sleep(0)
        times = np.array(await asyncio.gather(*heard))
        delays.append(times - pipe.recv())
    if watchers > 1:
        pipe.send("memory")
    for stream in streams:
        stream.cancel()
    for channel in channels:
        await channel.close()
    return delays


async def _batch(stream: "grpc.aio.UnaryStreamCall") -> float:
    """When the next answer arrived; returns at the end of its batch."""
    arrived = 0.0
    while True:
        event = await stream.read()
        if event.HasField("pool_size"):
            arrived = time.monotonic()
        if event.resume_token:
            return arrived
