"""Servers, deciders and the broker of one log, killed or stopped under load. No watcher misses a change or sees one
backwards, no revision has two contents, and nobody is sent everything again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import pytest

from sluice.common.v1.decision_pb2 import ACTION_HOLD
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_pb2 import STATE_STALE, PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.journal.place import POOLS, SHOP, pool
from sluice_kit.journal.shard_log import killed
from sluice_kit.journal.watcher import Watcher
from sluice_kit.machine.ports import free_ports
from sluice_kit.programs.deciders import Decider, Scene
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until

WATCHERS = 6


class Watched:
    """Two servers of a scene's log, and those who watch them."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self._scene, self._folder, self._servers = scene, folder, [ExitStack(), ExitStack()]
        self.addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
        self.watchers = [Watcher(self.addresses, n % 2) for n in range(WATCHERS)]

    def serve(self, number: int) -> None:
        self._servers[number].enter_context(killed(self._scene, self.addresses[number], self._folder))

    def kill(self, number: int) -> None:
        self._servers[number].close()

    def all_come(self) -> None:
        """To what is decided from now on."""
        before = [dict(watcher.revisions) for watcher in self.watchers]
        services = [key.service for key in POOLS]

        def further() -> bool:
            pairs = zip(self.watchers, before, strict=True)
            return all(
                watcher.revisions.get(name, 0) > was.get(name, 0) + 3 for watcher, was in pairs for name in services
            )

        until("all watchers are sent what is decided", further)

    def get(self, number: int) -> PoolSize:
        with grpc.insecure_channel(self.addresses[number]) as channel:
            request = api.GetPoolSizeRequest(pool=pool(SHOP))
            return PoolSizeServiceStub(channel).GetPoolSize(request, timeout=60).pool_size

    def check(self) -> None:
        targets = self._scene.check()
        last = {key.service: max(revision for name, revision in targets if name == key.service) for key in POOLS}
        until("all have the last", lambda: all(watcher.revisions == last for watcher in self.watchers))
        for watcher in self.watchers:
            watcher.closing = True
            assert not watcher.wrong
            assert watcher.contents.items() <= targets.items()
            assert watcher.snapshots == 1


@contextmanager
def watched(broker: Kafka, folder: Path, lease_ms: int = 60_000) -> Iterator[tuple[Scene, Watched]]:
    scene = Scene(broker, lease_ms)
    servers = Watched(scene, folder)
    with scene.playing():
        try:
            yield scene, servers
        finally:
            servers.kill(0)
            servers.kill(1)


def begun(scene: Scene, servers: Watched) -> tuple[Decider, Decider]:
    deciders = scene.shared_out()
    servers.serve(0)
    servers.serve(1)
    for watcher in servers.watchers:
        watcher.start()
    servers.all_come()
    return deciders


def test_the_broker_is_killed(broker: Kafka, tmp_path: Path) -> None:
    with watched(broker, tmp_path) as (scene, servers):
        begun(scene, servers)
        broker.process.kill()
        with broker.again():
            servers.all_come()
            servers.check()


def test_a_decider_and_a_server_are_killed_at_once(broker: Kafka, tmp_path: Path) -> None:
    with watched(broker, tmp_path) as (scene, servers):
        one, _ = begun(scene, servers)
        one.process.kill()
        servers.kill(0)
        servers.all_come()
        scene.decider()
        servers.serve(0)
        servers.kill(1)
        servers.all_come()
        servers.check()


@pytest.mark.parametrize("lease_s", [3, 15])
def test_without_deciders_answers_are_stale_and_then_go_on(broker: Kafka, tmp_path: Path, lease_s: int) -> None:
    """They are stopped for longer than the lease: for less than the group waits for them, and for longer."""
    with watched(broker, tmp_path, lease_s * 1_000) as (scene, servers):
        deciders = begun(scene, servers)
        for decider in deciders:
            os.kill(decider.process.pid, signal.SIGSTOP)
        until("every lease is over", lambda: all(set(watcher.left_s.values()) == {0.0} for watcher in servers.watchers))
        stale = [servers.get(number) for number in range(2)]
        for size in stale:
            assert (size.state, size.action) == (STATE_STALE, ACTION_HOLD)
            assert size.target == servers.watchers[0].contents[(SHOP.service, size.revision)]
        assert stale[0].revision == stale[1].revision
        for decider in deciders:
            os.kill(decider.process.pid, signal.SIGCONT)
        servers.all_come()
        until("no lease is over", lambda: all(min(watcher.left_s.values()) > 0 for watcher in servers.watchers))
        assert servers.get(0).state != STATE_STALE
        servers.check()
