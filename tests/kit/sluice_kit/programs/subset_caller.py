"""Callers of a service that follow their subsets, and a log of the containers that they may call."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc

from sluice.subsets.v1.subset_pb2 import STATE_DELETED, Endpoint, Subset
from sluice.subsets.v1.subset_service_pb2 import WatchSubsetsRequest
from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub


@dataclass
class CallLog:
    """entered, left: by instance, when the first subset named a container, and when the last one stopped, by
    time.monotonic(). emptied: counts updates without an endpoint."""

    ends: dict[str, tuple[Endpoint, ...]] = field(default_factory=dict)
    entered: dict[str, float] = field(default_factory=dict)
    left: dict[str, float] = field(default_factory=dict)
    emptied: int = 0
    updates: int = 0
    _callers: dict[str, int] = field(default_factory=dict)

    def called(self) -> set[str]:
        return {name for name, count in list(self._callers.items()) if count}

    def take(self, subset: Subset) -> None:
        now, caller, endpoints = time.monotonic(), subset.key.instance, tuple(subset.endpoints)
        before = {end.instance for end in self.ends.get(caller, ())}
        after = {end.instance for end in endpoints}
        self.ends[caller] = endpoints
        self.updates += 1
        self.emptied += not endpoints and subset.state != STATE_DELETED
        for name in after - before:
            self._callers[name] = self._callers.get(name, 0) + 1
            self.entered.setdefault(name, now)
            self.left.pop(name, None)
        for name in before - after:
            self._callers[name] -= 1
            if not self._callers[name]:
                self.left[name] = now


@contextmanager
def call_log(address: str, downstream: str) -> Iterator[CallLog]:
    """Of all callers of `downstream`, by the watch of the server at `address`, which may go and come back."""
    log, over = CallLog(), threading.Event()
    options = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_reconnect_backoff_ms", 500)]
    channel = grpc.insecure_channel(address, options)

    def read() -> None:
        while not over.is_set():
            try:
                for event in SubsetServiceStub(channel).WatchSubsets(WatchSubsetsRequest(downstream=downstream)):
                    if event.HasField("subset"):
                        log.take(event.subset)
            except grpc.RpcError:
                over.wait(0.2)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield log
    finally:
        over.set()
        channel.close()
        thread.join(10)
