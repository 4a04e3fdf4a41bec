"""The gRPC server: our service beside health and reflection."""

from __future__ import annotations

import ipaddress
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from sluice.serve.service import PoolSizeService
from sluice.v1 import pool_size_service_pb2 as api
from sluice.v1 import pool_size_service_pb2_grpc as rpc

NAME = api.DESCRIPTOR.services_by_name["PoolSizeService"].full_name
WORKERS = 8
GRACE_S = 5.0


class AddressError(Exception):
    """The server cannot or must not listen there."""


class Server:
    """Listens once constructed (`port` says where; a port of 0 picks one), answers once started."""

    def __init__(self, service: PoolSizeService, address: str) -> None:
        _demand_loopback(address)
        self._health = health.HealthServicer()
        self._serving: bool | None = None
        # Without SO_REUSEPORT a second recommender on the same port fails instead of taking half of the calls.
        self._server = grpc.server(
            ThreadPoolExecutor(WORKERS, thread_name_prefix="grpc"), options=[("grpc.so_reuseport", 0)]
        )
        rpc.add_PoolSizeServiceServicer_to_server(service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((NAME, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        self.serving(False)
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as cause:
            raise AddressError(f"listen on {address}: {cause}") from cause

    def start(self) -> None:
        self._server.start()

    def serving(self, ready: bool) -> None:
        """Sets the health of the server and of the service; who watches it is told when it changes, and only then."""
        if ready == self._serving:
            return
        self._serving = ready
        status = health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", NAME):
            self._health.set(name, status)

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Says NOT_SERVING, lets calls end for `grace_s`, and returns when the port is free."""
        self._health.enter_graceful_shutdown()
        self._server.stop(grace_s).wait()


def _demand_loopback(address: str) -> None:
    """There is no TLS and no token yet, so nobody but this machine may reach the server."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise AddressError(
            f"listen on {address!r}: legal without TLS and tokens: a loopback address, as 127.0.0.1:50051"
        )
