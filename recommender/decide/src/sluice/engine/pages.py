"""Health and metrics of a process, over HTTP. Readers change nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from sluice.engine.address import Address, AddressError
from sluice.engine.health import Health

# Bounds for readers of another host: connections at a time, and seconds for a request.
READERS, REQUEST_S = 32, 10.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: Address, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._free = threading.BoundedSemaphore(READERS)
        super().__init__((address.host, address.port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Closes a connection beyond READERS."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores readers that close the connection."""


class Pages:
    """/livez: 503 when the loop hangs. /readyz: 503 with a line for each cause. Both else 200. /metrics: Prometheus."""

    def __init__(self, address: Address, registry: CollectorRegistry, health: Health) -> None:
        """Raises AddressError for an address that is not free."""
        causes: dict[str, Callable[[], Sequence[str]]] = {"/livez": health.hangs, "/readyz": health.unready}

        class Handler(BaseHTTPRequestHandler):
            timeout = REQUEST_S

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if not address.serves(self.headers.get("Host", "")):
                    self.send_error(HTTPStatus.FORBIDDEN, "Host: want an IP address or localhost")
                elif path == "/metrics":
                    self._answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(registry))
                elif path in causes:
                    lines = causes[path]()
                    status = HTTPStatus.SERVICE_UNAVAILABLE if lines else HTTPStatus.OK
                    self._answer(status, "text/plain; charset=utf-8", ("\n".join(lines or ["ok"]) + "\n").encode())
                else:
                    self.send_error(HTTPStatus.NOT_FOUND)

            def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Logs no requests."""

        try:
            self._server = _Server(address, Handler)
        except OSError as cause:
            raise AddressError(f"listen on SLUICE_HEALTH={address}: {cause}") from cause

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, name="pages", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return self._server.server_port
