"""A pool goes to another group on a real Kafka, killed half-way and done again, while somebody watches a server."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from sluice.config import load
from sluice.decider.move import move
from sluice.engine.records import Commit
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard_log import ShardLog
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.place import SHOP, Place, facts, period, pools_of, taken
from sluice_kit.journal.shard_log import killed
from sluice_kit.journal.watcher import Watcher
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration
SOURCE = Path(__file__).resolve().parents[2] / "src"


def yaml(shop_group: str, generation: int) -> str:
    return f"""
groups: [first, second]
generation: {generation}
pools:
  - {{service: shop, side: server, threshold: 100ms, group: {shop_group}}}
  - {{service: stays, side: server, threshold: 100ms, group: first}}
  - {{service: other, side: server, threshold: 100ms, group: second}}
"""


def said(service: str, revision: int) -> PoolSize:
    pool = Pool(service=service, side=SIDE_SERVER)
    return PoolSize(pool=pool, revision=revision, target=revision, state=STATE_PROVIDED)


class Scene:
    shards = 2

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.bootstrap, self.prefix = broker.bootstrap, f"{uuid.uuid4().hex[:8]}_"
        broker.log(self.prefix, self.shards)
        self.names = topics(self.prefix)
        self.place = Place(self.names, lambda: KafkaBroker(self.bootstrap, self.names), lambda *_: None, [])
        self.old, self.new = folder / "old.yaml", folder / "new.yaml"
        self.old.write_text(yaml("first", 1))
        self.new.write_text(yaml("second", 2))

    def command(self) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "sluice.decider.move", "--config", self.old, "--to", self.new]
        variables = os.environ | {
            "PYTHONPATH": str(SOURCE),
            "SLUICE_KAFKA": self.bootstrap,
            "SLUICE_TOPIC_PREFIX": self.prefix,
        }
        return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=300, check=False)

    def killed_half_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Once it is there, and still here."""
        commits = []

        def commit(log: ShardLog, it: Commit) -> bool:
            if commits:
                raise KeyboardInterrupt
            commits.append(it)
            return committed(log, it)

        committed = ShardLog.commit
        broker = self.place.broker()
        with monkeypatch.context() as patch:
            patch.setattr(ShardLog, "commit", commit)
            with pytest.raises(KeyboardInterrupt):
                move(load(self.new), broker, self.names)
        broker.close()


def test_who_watches_sees_a_pool_that_moves_go_on(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(broker, tmp_path)
    decider = scene.place.decider("one")
    logs = {number: log for number, (log, _) in taken(decider).items()}
    logs[0].commit(period(logs[0].received(), [said("shop", 7), said("stays", 3)], facts(8)))
    logs[1].commit(period(logs[1].received(), [said("other", 2)]))
    address = f"127.0.0.1:{free_ports(1)[0]}"
    with killed(scene, address, tmp_path):
        watcher = Watcher([address], 0)
        watcher.start()
        until("it has all", lambda: watcher.snapshots == 1)
        refused = scene.command()
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "1 deciders own the shards; end them first" in refused.stderr
        decider.close()

        scene.killed_half_way(monkeypatch)
        assert "shop/server: first -> second" in scene.command().stdout
        assert scene.command().stdout == "nothing to move\n"
        until("it is of the other shard", lambda: watcher.shards["shop"] == 1)

        after = scene.place.decider("two", generation=2)
        found = taken(after)
        pools = [pools_of(shard) for _, (_, shard) in sorted(found.items())]
        assert [sorted(key.service for key in part.decisions) for part in pools] == [["stays"], ["other", "shop"]]
        assert pools_of(found[1][1]).states.facts[SHOP].current == 8
        log = found[1][0]
        log.commit(period(log.received(), [said("shop", 8), said("other", 2)]))
        until("it hears what is decided there", lambda: watcher.revisions["shop"] == 8)
        assert (watcher.wrong, watcher.snapshots, watcher.resumed) == ("", 1, 0)
        assert watcher.revisions == {"shop": 8, "stays": 3, "other": 2}
        scene.place.close()
    with killed(scene, address, tmp_path):
        again = Watcher([address], 0)
        again.start()
        until("it has all", lambda: again.snapshots == 1)
        assert (again.wrong, again.revisions) == ("", {"shop": 8, "stays": 3, "other": 2})
        assert again.shards == {"shop": 1, "stays": 0, "other": 1}
        watcher.closing = again.closing = True
