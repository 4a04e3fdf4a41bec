"""The command `sluice-server` on a log of its own, and a shard's writer that follows collector/topics.yaml."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import grpc
from confluent_kafka import Producer
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.pools.v1.log_pb2 import ShardHeartbeat
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse
from sluice_kit.servers.kafka import Broker

BINARY = Path(__file__).resolve().parents[4] / ".cache/bin/sluice-server"
TOPICS = ("decisions", "explanations", "observed", "reports")
LIMIT_S = 60.0
TRANSACTION_S = 30.0


class Log:
    """Topics of its own on a broker. `prefix` is before their names."""

    shards = 1

    def __init__(self, broker: Broker) -> None:
        self.bootstrap, self.prefix = broker.bootstrap, f"{uuid.uuid4().hex[:8]}_"
        for name in TOPICS:
            broker.topic(self.prefix + name, like=f"sluice_{name}")
        self._writer = Producer(
            {"bootstrap.servers": broker.bootstrap, "transactional.id": self.prefix, "linger.ms": 0}
        )
        self._writer.init_transactions(TRANSACTION_S)

    def commit(self, *records: tuple[str, str, Message], lease_s: int = 60) -> None:
        """A transaction of shard 0: (topic, key, value) each, and the heartbeat."""
        heartbeat = ShardHeartbeat(
            shard=0,
            shards=1,
            generation=1,
            lease=Duration(seconds=lease_s),
            computed_at=Timestamp(seconds=int(time.time())),
        )
        self._writer.begin_transaction()
        for topic, key, value in (*records, ("decisions", "shard/0", heartbeat)):
            self._writer.produce(self.prefix + topic, value.SerializeToString(), key, partition=0)
        self._writer.commit_transaction(TRANSACTION_S)


class Place(Protocol):
    """Where a log is: its brokers, what is before the names of its topics, and how many shards it has."""

    bootstrap: str
    prefix: str
    shards: int


def environment(log: Place, address: str) -> dict[str, str]:
    """What a server on the journal is told that listens on `address`."""
    return {
        "SLUICE_KAFKA": log.bootstrap,
        "SLUICE_TOPIC_PREFIX": log.prefix,
        "SLUICE_SHARDS": str(log.shards),
        "SLUICE_RECOMMENDER": address,
        "PATH": os.environ["PATH"],
    }


def ready(address: str, more: Mapping[str, str] = MappingProxyType({})) -> bool:
    """more: as of `serving`: with TLS and tokens it is asked so."""
    channel = grpc.insecure_channel(address)
    metadata: tuple[tuple[str, str | bytes], ...] = ()
    if "SLUICE_TLS_CERT" in more:
        authority = grpc.ssl_channel_credentials(Path(more["SLUICE_TLS_CERT"]).read_bytes())
        channel = grpc.secure_channel(address, authority)
    if "SLUICE_TOKENS" in more:
        metadata = (("authorization", f"Bearer {Path(more['SLUICE_TOKENS']).read_text().split()[0]}"),)
    with channel:
        try:
            stub = rpc.PoolSizeServiceStub(channel)
            stub.ListPoolSizes(api.ListPoolSizesRequest(), timeout=5, metadata=metadata)
        except grpc.RpcError:
            return False
        return True


@contextmanager
def serving(log: Log, folder: Path, more: Mapping[str, str]) -> Iterator[rpc.PoolSizeServiceStub]:
    """A server that has read the journal. more: variables besides those that it needs."""
    with serving_at(log, folder, more) as address, grpc.insecure_channel(address) as channel:
        yield rpc.PoolSizeServiceStub(channel)


@contextmanager
def serving_at(log: Log, folder: Path, more: Mapping[str, str]) -> Iterator[str]:
    """As `serving`, by its address."""
    assert BINARY.exists(), f"{BINARY} is missing: `make setup` builds it for tests"
    (port,) = free_ports(1)
    variables = {**environment(log, f"127.0.0.1:{port}"), **more}
    address = variables["SLUICE_RECOMMENDER"]
    output = folder / f"server-{address.rpartition(':')[2]}.log"
    with running("server", [BINARY], lambda: ready(address, more), output, LIMIT_S, variables):
        yield address


@contextmanager
def killed(log: Place, address: str, folder: Path) -> Iterator[None]:
    """A server that has read the journal, and is killed when the block ends."""
    name = f"server-{address.rpartition(':')[2]}.log"
    with running(
        "server", [BINARY], lambda: ready(address), folder / name, LIMIT_S, environment(log, address)
    ) as process:
        yield
        process.kill()


@contextmanager
def recording(log: Log, database: ClickHouse, folder: Path) -> Iterator[None]:
    """Decisions and reports are written into the tables."""
    password = folder / "clickhouse_password"
    password.touch(mode=0o600)
    password.write_text(PASSWORD)
    variables = {
        **environment(log, "127.0.0.1:0"),
        "SLUICE_CLICKHOUSE": database.url,
        "SLUICE_CLICKHOUSE_USER": WRITER,
        "SLUICE_CLICKHOUSE_PASSWORD_FILE": str(password),
    }
    with running("records", [BINARY, "records"], lambda: True, folder / "records.log", LIMIT_S, variables):
        yield
