"""Those who watch servers of one log, and go on at the next server where the one they were at is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import grpc

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

LIMIT_S = 600.0


class Watcher(threading.Thread):
    """contents: the target of every revision that it was sent, by service; wrong: what no watch may say.

    left_s: of each shard, what is left of its lease by the newest heartbeat. snapshots: how often it was sent all.
    shards: by service, the one whose heartbeats count for its answer.
    """

    def __init__(self, addresses: Sequence[str], first: int) -> None:
        super().__init__(daemon=True)
        self._addresses, self._at, self._token = addresses, first, ""
        self.revisions: dict[str, int] = {}
        self.contents: dict[tuple[str, int], int] = {}
        self.left_s: dict[int, float] = {}
        self.shards: dict[str, int] = {}
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
        for shard in event.heartbeat.shards:
            self.left_s[shard.shard] = shard.lease_left.ToNanoseconds() / 1e9
        if not event.HasField("pool_size"):
            return
        size, service = event.pool_size, event.pool_size.pool.service
        if self.contents.setdefault((service, size.revision), size.target) != size.target:
            self.wrong = f"{service}: revision {size.revision} says {size.target}, and said otherwise before"
        if size.revision < self.revisions.get(service, 0):
            self.wrong = f"{service}: {size.revision} after {self.revisions[service]}"
        if size.state == STATE_DELETED:
            self.wrong = f"{service} is gone"
        self.revisions[service], self.shards[service] = size.revision, size.shard
