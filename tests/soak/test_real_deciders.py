"""Two real deciders on one log and one database, with a group of pools each: one killed, one stopped until the other
has its group. Nothing is decided twice, and the pools of the other go on from where they were."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from migrate.__main__ import schema_up
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_OBSERVED, Actuation
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_STALE, PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.journal.watcher import Watcher
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.programs.decider import PATIENCE_S, Decider, insert, windows_of_shop
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.kafka import kafka
from sluice_kit.waiting import until

CART = Pool(service="cart", side=SIDE_SERVER)
DB = Pool(service="catalogue", side=SIDE_CLIENT, peer="catalogue-db")
SIZES = {"cart": 64, "catalogue": 12}
YAML = """
groups: [shop, data]
pools:
  - {service: cart, side: server, threshold: 150ms, bounds: {min: 2, max: 128}}
  - {service: catalogue, side: client, peer: catalogue-db, threshold: 120ms, group: data}
"""


class Scene:
    def __init__(self, address: str, deciders: list[Decider]) -> None:
        self.stub = PoolSizeServiceStub(grpc.insecure_channel(address))
        self.deciders = deciders
        self.watcher = Watcher([address], 0)

    def size(self, pool: Pool) -> PoolSize:
        return self.stub.GetPoolSize(api.GetPoolSizeRequest(pool=pool), timeout=PATIENCE_S).pool_size

    def report(self) -> None:
        """As the pools' actuators do; nothing is applied."""
        for pool in (CART, DB):
            actuation = Actuation(
                pool=pool,
                target_name=pool.service,
                actuator="test",
                outcome=ACTUATION_OUTCOME_OBSERVED,
                previous=SIZES[pool.service],
            )
            self.stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))

    def until(self, what: str, wanted: Callable[[], bool]) -> None:
        def reported() -> bool:
            self.report()
            return wanted()

        until(what, reported)

    def shards(self) -> list[int]:
        """How many each decider has."""
        pages = [decider.page("/metrics").splitlines() for decider in self.deciders]
        name = "sluice_decider_shards "
        return [int(float(line.removeprefix(name))) for page in pages for line in page if line.startswith(name)]

    def decided_since(self, since_s: float) -> bool:
        """Of both pools."""
        return all(self.size(pool).computed_at.ToMilliseconds() > 1e3 * since_s for pool in (CART, DB))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    folders = {name: tmp_path / name for name in ("kafka", "clickhouse", "one", "two")}
    for folder in folders.values():
        folder.mkdir()
    with ExitStack() as up:
        broker = up.enter_context(kafka(folders["kafka"]))
        database = up.enter_context(clickhouse(folders["clickhouse"]))
        schema_up(database.writer_url, "sluice", wait_s=30)
        insert(database, windows_of_shop())
        prefix = f"{uuid.uuid4().hex[:8]}_"
        broker.log(prefix, 2)
        deciders = [Decider(folders[name], database.url, broker.bootstrap, prefix, YAML) for name in ("one", "two")]
        (port,) = free_ports(1)
        address = f"127.0.0.1:{port}"
        addresses = {"SLUICE_KAFKA": broker.bootstrap, "SLUICE_TOPIC_PREFIX": prefix, "SLUICE_SHARDS": "2"}
        variables = {**os.environ, **addresses, "SLUICE_RECOMMENDER": address}
        up.enter_context(
            running("server", [BINARY], lambda: ready(address), tmp_path / "server.log", PATIENCE_S, variables)
        )
        scene = Scene(address, deciders)
        yield scene
        scene.watcher.closing = True


def both_at_work(scene: Scene, up: ExitStack) -> list[int]:
    """The pids of two deciders that have a group each, and have sizes to name."""
    pids = [up.enter_context(decider.running()).pid for decider in scene.deciders]
    for decider in scene.deciders:
        decider.wait_for_log("shard ")
    until(
        "each has a shard",
        lambda: all("sluice_decider_shards 1.0" in decider.page("/metrics") for decider in scene.deciders),
    )
    scene.watcher.start()
    scene.until("both pools are decided by what was seen", lambda: all(scene.size(p).target for p in (CART, DB)))
    return pids


def test_killed_and_taken_over(scene: Scene) -> None:
    with ExitStack() as up:
        pids = both_at_work(scene, up)
        before = {pool.service: scene.size(pool).revision for pool in (CART, DB)}
        at = time.time()
        os.kill(pids[0], signal.SIGKILL)
        scene.until("the other one decides for both", lambda: scene.decided_since(at))
        print(f"taken over after {time.time() - at:.1f} s")
        for pool in (CART, DB):
            assert scene.size(pool).revision >= before[pool.service]
            assert scene.size(pool).state != STATE_STALE
    assert not scene.watcher.wrong


def test_stopped_until_the_other_has_its_group(scene: Scene) -> None:
    with ExitStack() as up:
        pids = both_at_work(scene, up)
        os.kill(pids[0], signal.SIGSTOP)
        stopped = time.time()
        scene.until("the other one decides for both", lambda: scene.decided_since(stopped))
        os.kill(pids[0], signal.SIGCONT)
        scene.until("each has one again", lambda: scene.shards() == [1, 1])
        shared = time.time()
        scene.until("both are decided", lambda: scene.decided_since(shared))
    assert not scene.watcher.wrong
