"""Lets an actuator read and set the size of a running Python program's pools: GET and PUT /NAME.

    engine = create_engine(url, poolclass=ResizablePool)
    serve("127.0.0.1", 8099, "/run/secrets/pools", {"rows": engine.pool})

Processes (of gunicorn or uvicorn) are none: they cannot be resized while they run, and each has a pool of its own.
"""

import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

LARGEST, LONGEST_BODY, SHORTEST_TOKEN = 65535, 1024, 16


class Pool(Protocol):
    """What can be resized while it runs; a pool of Thrift clients is one with these two methods.

    One that has `use() -> tuple[int | None, int | None]` tells too how many are in use, and how many callers wait for
    one; None: it is not known.
    """

    def resize(self, limit: int) -> None:
        """Sets the limit, at least 1."""

    def sizes(self) -> tuple[int, int]:
        """The limit, 0 for none, and how many connections there are now."""


def serve(host: str, port: int, token_file: str, pools: dict[str, Pool]) -> ThreadingHTTPServer:
    """Answers who sends the token that token_file has now, of 16 characters or more, in a thread of its own.

    {"size": limit, "open": n} of each pool, and "busy" and "waiting" as far as it tells; a PUT of {"size": n} resizes,
    and answers what is then. No instrumentation makes spans of it: OpenTelemetry has none of `http.server`.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            self._answer(*self._do(None))

        def do_PUT(self) -> None:
            length = self.headers.get("Content-Length", "")
            body = self.rfile.read(int(length)) if length.isdecimal() and int(length) <= LONGEST_BODY else b""
            self._answer(*self._do(body))

        def _do(self, body: bytes | None) -> tuple[int, dict[str, Any]]:
            if not _knows(token_file, self.headers.get("Authorization", "")):
                return 401, {"error": "want Authorization: Bearer TOKEN"}
            pool = pools.get(self.path.strip("/"))
            if pool is None:
                return 404, {"error": "no such pool"}
            if body is not None:
                size = _size(body)
                if not size:
                    return 400, {"error": f"size: want 1 to {LARGEST}"}
                pool.resize(size)
            limit, there = pool.sizes()
            return 200, {"size": limit, "open": there} | _use(pool)

        def _answer(self, status: int, fields: dict[str, Any]) -> None:
            text = json.dumps(fields).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, name="sluice-pools", daemon=True).start()
    return server


def _use(pool: Pool) -> dict[str, int]:
    tells = getattr(pool, "use", None)
    figures = zip(("busy", "waiting"), tells(), strict=True) if tells is not None else ()
    return {name: number for name, number in figures if number is not None}


def _knows(token_file: str, said: str) -> bool:
    try:
        token = Path(token_file).read_text().strip()
    except OSError:
        return False
    return len(token) >= SHORTEST_TOKEN and hmac.compare_digest(said.encode(), f"Bearer {token}".encode())


def _size(body: bytes) -> int:
    """0 where the body has none that is legal."""
    try:
        size = json.loads(body)["size"]
    except (ValueError, KeyError, TypeError):
        return 0
    return size if type(size) is int and 1 <= size <= LARGEST else 0
