"""The gRPC server: our service beside health and reflection, on an event loop of its own thread.

Watchers are many and mostly silent: as coroutines they cost memory, not threads.
"""

from __future__ import annotations

import asyncio
import ipaddress
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.serve.access import Access
from sluice.serve.service import PoolSizeService

NAME = api.DESCRIPTOR.services_by_name["PoolSizeService"].full_name
GRACE_S = 5.0
OPTIONS = [
    # A second recommender on the same port fails instead of taking half of the calls.
    ("grpc.so_reuseport", 0),
    # After a restart every watcher comes back within seconds. By default gRPC cancels calls at random once 1,000 wait
    # to be taken up, and all from 3,000 on.
    ("grpc.server.max_pending_requests", 20_000),
    ("grpc.server.max_pending_requests_hard_limit", 30_000),
    # And each that waits for longer than 30 s, as many do on a busy machine: they would only come again. In seconds.
    ("grpc.server_max_unrequested_time_in_server", 300),
]

T = TypeVar("T")


class AddressError(Exception):
    """The server cannot or must not listen there."""


class Server:
    """Listens once constructed (`port` says where; a port of 0 picks one), answers once started.

    Raises:
        AddressError: the address cannot be bound, or is not loopback while `access` lacks TLS or tokens.
    """

    def __init__(self, service: PoolSizeService, address: str, access: Access | None = None) -> None:
        access = access or Access()
        if access.lacking:
            _demand_loopback(address, access.lacking)
        self._service = service
        self._serving: bool | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="grpc", daemon=True)
        self._thread.start()
        try:
            self.port = self._run(self._build(service, address, access))
        except RuntimeError as cause:
            self._end()
            raise AddressError(f"listen on {address}: {cause}") from cause
        self.serving(False)

    def start(self) -> None:
        self._run(self._server.start())

    def serving(self, ready: bool) -> None:
        """Sets the health of the server and of the service; who watches it is told when it changes, and only then."""
        if ready == self._serving:
            return
        self._serving = ready
        status = health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", NAME):
            self._run(self._health.set(name, status))

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Says NOT_SERVING, ends watches, lets calls end for `grace_s`, and returns when the port is free."""
        if self._loop.is_closed():
            return
        self._run(self._health.enter_graceful_shutdown())
        self._loop.call_soon_threadsafe(self._service.close)
        self._run(self._server.stop(grace_s))
        self._end()

    async def _build(self, service: PoolSizeService, address: str, access: Access) -> int:
        self._server = grpc.aio.server(interceptors=access.interceptors(), options=OPTIONS)
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]
        service.attach(self._loop)
        rpc.add_PoolSizeServiceServicer_to_server(service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((NAME, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        credentials = access.credentials()
        if credentials is None:
            return self._server.add_insecure_port(address)
        return self._server.add_secure_port(address, credentials)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _demand_loopback(address: str, lacking: Sequence[str]) -> None:
    """Without TLS and tokens nobody but this machine may reach the server."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise AddressError(
            f"listen on {address!r}: set {', '.join(lacking)}; without TLS and tokens only a loopback address is "
            "legal, as 127.0.0.1:50051"
        )
