"""kill -9 of each of two servers, under load: no watcher misses a change, sees one backwards, or is sent all again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from shard_log import BINARY, LIMIT_S, Log, environment, ready
from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from support.kafka import Kafka
from support.ports import free_ports
from support.processes import running
from support.waiting import until

pytestmark = pytest.mark.integration
POOLS = [f"s{n}" for n in range(5)]
WATCHERS = 4


def target(revision: int) -> int:
    """What every revision says: another content under it would show."""
    return revision * 7 % 1_000 + 1


class Writer(threading.Thread):
    """Commits one revision of every pool after the other, until it is told to stop."""

    def __init__(self, log: Log) -> None:
        super().__init__(daemon=True)
        self._log, self._stop_it, self.revision = log, threading.Event(), 0
        self.commit()

    def commit(self) -> None:
        self.revision += 1
        sizes = (
            PoolSize(
                pool=Pool(service=name, side=SIDE_SERVER),
                state=STATE_PROVIDED,
                action=ACTION_APPLY,
                target=target(self.revision),
                revision=self.revision,
            )
            for name in POOLS
        )
        self._log.commit(*(("decisions", f"pool/{size.pool.service}/server/", size) for size in sizes))

    def run(self) -> None:
        while not self._stop_it.wait(0.02):
            self.commit()

    def stop(self) -> int:
        self._stop_it.set()
        self.join()
        return self.revision


class Watcher(threading.Thread):
    """Watches one of the servers, and the next one from where it was when that is gone."""

    def __init__(self, addresses: list[str], first: int) -> None:
        super().__init__(daemon=True)
        self._addresses, self._at, self._token = addresses, first, ""
        self.seen: dict[str, int] = {}
        self.snapshots, self.resumed, self.wrong = 0, 0, ""
        self.closing = False

    def run(self) -> None:
        while not self.closing:
            with grpc.insecure_channel(self._addresses[self._at]) as channel:
                try:
                    request = api.WatchPoolSizesRequest(resume_token=self._token)
                    for event in PoolSizeServiceStub(channel).WatchPoolSizes(request, timeout=LIMIT_S):
                        self._take(event)
                        if self.closing:
                            return
                except grpc.RpcError:
                    self._at = (self._at + 1) % len(self._addresses)
                    self.resumed += bool(self._token)
                    time.sleep(0.05)

    def _take(self, event: api.WatchPoolSizesResponse) -> None:
        self._token = event.resume_token or self._token
        self.snapshots += event.HasField("snapshot")
        if not event.HasField("pool_size"):
            return
        size = event.pool_size
        if size.target != target(size.revision):
            self.wrong = f"revision {size.revision} says {size.target}"
        if size.revision < self.seen.get(size.pool.service, 0):
            self.wrong = f"{size.revision} after {self.seen[size.pool.service]}"
        self.seen[size.pool.service] = size.revision


@contextmanager
def server(log: Log, address: str, folder: Path) -> Iterator[None]:
    name = f"server-{address.rpartition(':')[2]}.log"
    with running(
        "server", [BINARY], lambda: ready(address), folder / name, LIMIT_S, environment(log, address)
    ) as process:
        yield
        process.kill()


def test_kill_of_each_server_under_load(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    writer = Writer(log)
    writer.start()
    watchers = [Watcher(addresses, n % 2) for n in range(WATCHERS)]
    with server(log, addresses[0], tmp_path):
        with server(log, addresses[1], tmp_path):
            for watcher in watchers:
                watcher.start()
            until("all watch", lambda: all(watcher.snapshots for watcher in watchers))
        until("those of the second went on", lambda: sum(watcher.resumed > 0 for watcher in watchers) >= WATCHERS // 2)
        with server(log, addresses[1], tmp_path):
            at = writer.revision
            until("all have what came since", lambda: all(min(watcher.seen.values()) > at for watcher in watchers))
    with server(log, addresses[0], tmp_path):
        last = writer.stop()
        until("all have the last", lambda: all(set(watcher.seen.values()) == {last} for watcher in watchers))
        for watcher in watchers:
            watcher.closing = True
            assert not watcher.wrong
            assert (watcher.snapshots, len(watcher.seen)) == (1, len(POOLS))
        assert sum(watcher.resumed > 0 for watcher in watchers) == WATCHERS
