"""Lets containers of the simulation choose whom they call as stock gRPC does: each calling container has a gRPC client
of its own, which follows its subset over xDS, and each called one a small gRPC server that says its name."""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from . import picks_process
from .picks_process import METHOD

log = logging.getLogger(__name__)

AHEAD = 8
"""Answers that wait for a container's next calls. So a new subset is followed that many calls later."""
PAUSE_S = 1.0
"""Between two calls of a client without endpoints."""


class Proxyless:
    """recommender: HOST:PORT of the xDS server. callers: containers of `service`. callees: addresses of the containers
    of `called`, by name."""

    def __init__(
        self, recommender: str, service: str, callers: Sequence[str], called: str, callees: Mapping[str, str]
    ) -> None:
        self._servers = [_server(name, address) for name, address in callees.items()]
        self._stopping = threading.Event()
        self._answers: dict[str, queue.Queue[str]] = {name: queue.Queue(AHEAD) for name in callers}
        self._clients = {name: _client(recommender, f"{service}~{name}", f"xds:///{called}") for name in callers}
        for name in callers:
            threading.Thread(target=self._ask, args=(name,), name=f"picks of {name}", daemon=True).start()

    def pick(self, caller: str) -> str | None:
        """The container that answered a call of `caller`; None where its client has no endpoints, or is behind."""
        try:
            return self._answers[caller].get_nowait()
        except (KeyError, queue.Empty):
            return None

    def stop(self) -> None:
        self._stopping.set()
        for client in self._clients.values():
            client.terminate()
            client.wait()
        for server in self._servers:
            server.stop(None)

    def _ask(self, caller: str) -> None:
        client, answers = self._clients[caller], self._answers[caller]
        assert client.stdin is not None
        assert client.stdout is not None
        while not self._stopping.is_set():
            try:
                client.stdin.write("\n")
                client.stdin.flush()
                name = client.stdout.readline().strip()
            except (OSError, ValueError):
                return
            if name:
                answers.put(name)
            elif client.poll() is not None or self._stopping.wait(PAUSE_S):
                return


def _server(name: str, address: str) -> grpc.Server:
    """Raises RuntimeError where the address is not free."""
    server = grpc.server(ThreadPoolExecutor(1))
    service, _, method = METHOD.strip("/").rpartition("/")
    handler = grpc.unary_unary_rpc_method_handler(lambda request, context: name.encode())
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    server.add_insecure_port(address)
    server.start()
    return server


def _client(recommender: str, node: str, target: str) -> subprocess.Popen[str]:
    servers = [
        {"server_uri": recommender, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]},
    ]
    bootstrap = json.dumps({"xds_servers": servers, "node": {"id": node}})
    return subprocess.Popen(
        [sys.executable, "-m", picks_process.__name__, target],
        env=os.environ | {"GRPC_XDS_BOOTSTRAP_CONFIG": bootstrap, "GRPC_VERBOSITY": "NONE"},
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
