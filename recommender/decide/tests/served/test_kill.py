"""kill -9 of each of two servers, under load: no watcher misses a change, sees one backwards, or is sent all again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import Log, killed
from sluice_kit.journal.watcher import Watcher
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

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


def test_kill_of_each_server_under_load(broker: Broker, tmp_path: Path) -> None:
    log = Log(broker)
    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    writer = Writer(log)
    writer.start()
    watchers = [Watcher(addresses, n % 2) for n in range(WATCHERS)]
    with killed(log, addresses[0], tmp_path):
        with killed(log, addresses[1], tmp_path):
            for watcher in watchers:
                watcher.start()
            until("all watch", lambda: all(watcher.snapshots for watcher in watchers))
        until("those of the second went on", lambda: sum(watcher.resumed > 0 for watcher in watchers) >= WATCHERS // 2)
        with killed(log, addresses[1], tmp_path):
            at = writer.revision
            until("all have what came since", lambda: all(min(watcher.revisions.values()) > at for watcher in watchers))
    with killed(log, addresses[0], tmp_path):
        last = writer.stop()
        until("all have the last", lambda: all(set(watcher.revisions.values()) == {last} for watcher in watchers))
        for watcher in watchers:
            watcher.closing = True
            assert not watcher.wrong
            assert all(value == target(revision) for (_, revision), value in watcher.contents.items())
            assert (watcher.snapshots, len(watcher.revisions)) == (1, len(POOLS))
        assert sum(watcher.resumed > 0 for watcher in watchers) == WATCHERS
