"""The recommender as it is: a decider, Kafka and a server, on windows that a test brings as time passes."""

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc

from migrate.__main__ import schema_up
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.programs.decider import SIMULATED_S, Decider, feeding
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.kafka import kafka
from sluice_kit.waiting import until
from testbed.windows import latency_index

LIMIT_S = 200.0
BUCKET_MS, REQUEST_MS, IN_FLIGHT = 100, 50, 2


@contextmanager
def recommender(folder: Path, yaml: str, windows: list[list[Any]]) -> Iterator[str]:
    """The server's address. yaml: the decider's configuration. windows: `decider_process.feeding` has their shape."""
    folders = {name: folder / name for name in ("kafka", "clickhouse", "decider")}
    for path in folders.values():
        path.mkdir()
    with ExitStack() as up:
        broker = up.enter_context(kafka(folders["kafka"]))
        database = up.enter_context(clickhouse(folders["clickhouse"]))
        schema_up(database.writer_url, "sluice", wait_s=LIMIT_S)
        prefix = f"{uuid.uuid4().hex[:8]}_"
        broker.log(prefix, 1)
        up.enter_context(feeding(database, windows))
        decider = Decider(folders["decider"], database.url, broker.bootstrap, prefix, yaml)
        up.enter_context(decider.running())
        address = f"127.0.0.1:{free_ports(1)[0]}"
        addresses = {"SLUICE_KAFKA": broker.bootstrap, "SLUICE_TOPIC_PREFIX": prefix, "SLUICE_RECOMMENDER": address}
        log = folder / "server.log"
        up.enter_context(running("server", [BINARY], lambda: ready(address), log, LIMIT_S, os.environ | addresses))
        until("there are answers", lambda: _answers(address))
        yield address


def _answers(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        stub = PoolSizeServiceStub(channel)
        return bool(stub.ListPoolSizes(api.ListPoolSizesRequest(), timeout=LIMIT_S).pool_sizes)


def light_windows(service: str, peer: str, instance: str) -> list[list[Any]]:
    """Of the connections of `service` to `peer`: two in flight, 40 requests of 50 ms a second."""
    done = BUCKET_MS * IN_FLIGHT // REQUEST_MS
    latency = {latency_index(REQUEST_MS * 10**6): done}
    return [
        ["client", service, peer, instance, at, BUCKET_MS, IN_FLIGHT * BUCKET_MS * 10**6, done, 0, latency, done + 1]
        for at in range(0, 1000 * SIMULATED_S, BUCKET_MS)
    ]
