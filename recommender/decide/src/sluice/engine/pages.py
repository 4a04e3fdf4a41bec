"""Health and metrics of a decider, over HTTP on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

# A loop without a turn for this long hangs.
HANGS_S = 60.0


class AddressError(Exception):
    """An address that the process cannot listen on."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores readers that close the connection."""


class Pages:
    """/healthz: 200 while the loop turns, 503 when it hangs. /metrics: Prometheus text.

    address: HOST:PORT, of loopback. age_s: seconds since the loop's last turn.
    """

    def __init__(self, address: str, registry: CollectorRegistry, age_s: Callable[[], float]) -> None:
        host, port = _loopback(address)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(registry))
                elif self.path == "/healthz":
                    age = age_s()
                    status = HTTPStatus.OK if age < HANGS_S else HTTPStatus.SERVICE_UNAVAILABLE
                    body = json.dumps({"loop_came_round_s_ago": round(age, 1)})
                    self._answer(status, "application/json", body.encode())
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
            self._server = _Server((host, port), Handler)
        except OSError as cause:
            raise AddressError(f"listen on SLUICE_DECIDER={address}: {cause}") from cause

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, name="pages", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return self._server.server_port


def _loopback(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    try:
        if ip_address(host).is_loopback and 0 <= int(port) <= 65_535:
            return host, int(port)
    except ValueError:
        pass
    raise AddressError(f"SLUICE_DECIDER={address} is not legal; legal: a loopback address, as 127.0.0.1:8092")
