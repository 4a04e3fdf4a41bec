"""HTTP/1.1 containers whose answers turn good or bad, and one caller that asks for them through a proxy."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HealthContainer:
    """status: of its answers from now on."""

    def __init__(self, name: str) -> None:
        self.name, self.status = name, 200
        container = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = container.name.encode()
                self.send_response(container.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not logged."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_port}"


@contextmanager
def health_containers(*names: str) -> Iterator[dict[str, HealthContainer]]:
    containers = {name: HealthContainer(name) for name in names}
    threads = [threading.Thread(target=one.server.serve_forever, daemon=True) for one in containers.values()]
    for thread in threads:
        thread.start()
    try:
        yield containers
    finally:
        for one in containers.values():
            one.server.shutdown()
            one.server.server_close()


def ask(port: int, requests: int) -> Counter[tuple[str, int]]:
    """The answers to so many requests, one after the other on one connection, by container and status."""
    answers: Counter[tuple[str, int]] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    for _ in range(requests):
        connection.request("GET", "/", headers={"Host": "b"})
        response = connection.getresponse()
        answers[response.read().decode(), response.status] += 1
    connection.close()
    return answers
