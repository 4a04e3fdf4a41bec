"""A client of WatchPoolSizes over a time in which servers come and go."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from cluster.queries import Queries
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

_SILENCE_S = 60.0


class Watcher(threading.Thread):
    """wrong: events that no watch may send. resumed: streams that began with a token; full: those that sent all."""

    def __init__(self, sluice: Queries) -> None:
        super().__init__(daemon=True)
        self.events = self.resumed = self.full = 0
        self.wrong: list[str] = []
        self._sluice, self._token, self._over = sluice, "", False
        self._revisions: dict[str, int] = {}

    def run(self) -> None:
        while not self._over:
            self.resumed += bool(self._token)
            try:
                with self._sluice.channel() as channel:
                    self._watch(channel)
            except (grpc.RpcError, AssertionError):  # kubectl fails too while the API server is busy
                time.sleep(0.5)

    def stop(self) -> None:
        self._over = True

    def _watch(self, channel: grpc.Channel) -> None:
        request = api.WatchPoolSizesRequest(resume_token=self._token)
        for event in PoolSizeServiceStub(channel).WatchPoolSizes(request, timeout=_SILENCE_S):
            self.events += 1
            self._take(event)
            if self._over:
                return

    def _take(self, event: api.WatchPoolSizesResponse) -> None:
        self._token = event.resume_token or self._token
        self.full += event.HasField("snapshot")
        if event.HasField("pool_size"):
            size = event.pool_size
            service, revision = size.pool.service, size.revision
            if revision < self._revisions.get(service, 0):
                self.wrong.append(f"{service}: revision {revision} after {self._revisions[service]}")
            if size.state == STATE_DELETED:
                self.wrong.append(f"{service}: deleted")
            self._revisions[service] = revision


@contextmanager
def watching(sluice: Queries) -> Iterator[Watcher]:
    watcher = Watcher(sluice)
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()
        watcher.join(2 * _SILENCE_S)
