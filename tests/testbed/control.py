"""The HTTP API of a running demo: its pools, its health, its statistics."""

import json
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from .adjustable import AdjustablePool
from .handover import Handover

LONGEST_BODY = 65536


class RefusedError(Exception):
    """A request that is answered with an error; the message names the field and the legal range."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def parse_size(body: bytes, lowest: int, highest: int) -> int:
    """The size in ``{"size": 12}``.

    Raises:
        RefusedError: it is not that, or the size is not an integer in [lowest, highest].
    """
    legal = f"an integer from {lowest} to {highest}"
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(HTTPStatus.BAD_REQUEST, f'body: must be a JSON object {{"size": {legal}}}') from None
    if not isinstance(document, dict):
        raise RefusedError(HTTPStatus.BAD_REQUEST, f'body: must be a JSON object {{"size": {legal}}}')
    unknown = sorted(set(document) - {"size"})
    if unknown:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{unknown[0]}: unknown field, the only one is size, {legal}")
    if "size" not in document:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"size: missing, must be {legal}")
    size = document["size"]
    if not isinstance(size, int) or isinstance(size, bool) or not lowest <= size <= highest:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"size: must be {legal}, got {json.dumps(size)[:40]}")
    return size


def describe(pool: AdjustablePool) -> dict[str, Any]:
    return {
        "name": pool.name,
        "service": pool.service,
        "side": pool.side,
        "peer": pool.peer,
        "size": pool.size,
        "min": pool.min,
        "max": pool.max,
        "in_use": pool.in_use,
        "queued": pool.queued,
        # Of one replica, as an actuator reads them beside the size: full where all are, and waiting where anybody does.
        "busy": pool.in_use // max(1, pool.count),
        "waiting": -(-pool.queued // max(1, pool.count)),
    }


class Control:
    """GET /pools, GET and PUT /pools/NAME, GET /stats, GET /healthz; every answer is JSON."""

    def __init__(
        self, pools: dict[str, AdjustablePool], stats: Callable[[], dict[str, Any]], handover: Handover
    ) -> None:
        self._pools = pools
        self._stats = stats
        self._handover = handover

    def answer(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """Raises RefusedError."""
        match path.strip("/").split("/"):
            case ["healthz"]:
                _only(method, "GET")
                return {"status": "ok"}
            case ["stats"]:
                _only(method, "GET")
                return self._handover.ask(self._stats)
            case ["pools"]:
                _only(method, "GET")
                return {"pools": self._handover.ask(lambda: [describe(pool) for pool in self._pools.values()])}
            case ["pools", name]:
                _only(method, "GET", "PUT")
                pool = self._pools.get(unquote(name))
                if pool is None:
                    known = ", ".join(sorted(self._pools))
                    raise RefusedError(
                        HTTPStatus.NOT_FOUND, f"pool: {unquote(name)!r} is unknown, must be one of {known}"
                    )
                if method == "GET":
                    return self._handover.ask(lambda: describe(pool))
                size = parse_size(body, pool.min, pool.max)
                return self._handover.ask(lambda: _resized(pool, size))
        raise RefusedError(HTTPStatus.NOT_FOUND, "path: must be one of /pools, /pools/NAME, /stats, /healthz")


def _only(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, f"method: must be {' or '.join(allowed)}, got {method}")


def _resized(pool: AdjustablePool, size: int) -> dict[str, Any]:
    pool.resize(size)
    return describe(pool)


class Server(ThreadingHTTPServer):
    """Takes many clients at once: with the standard library's 5 waiting connections, the sixth is reset."""

    request_queue_size = 128
    daemon_threads = True


def serve(control: Control, host: str, port: int) -> ThreadingHTTPServer:
    """A server that has bound its port; the caller runs ``serve_forever`` and ``shutdown``.

    Raises:
        OSError: the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10  # seconds for a client to send its request

        def do_GET(self) -> None:
            self._respond()

        do_PUT = do_POST = do_DELETE = do_PATCH = do_GET  # noqa: N815

        def _respond(self) -> None:
            try:
                body = self._body()
                status, document = HTTPStatus.OK, control.answer(self.command, urlsplit(self.path).path, body)
            except RefusedError as refusal:
                status, document = refusal.status, {"error": str(refusal)}
            except TimeoutError as error:
                status, document = HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
            payload = (json.dumps(document) + "\n").encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def _body(self) -> bytes:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length) > LONGEST_BODY or "Transfer-Encoding" in self.headers:
                self.close_connection = True
                raise RefusedError(
                    HTTPStatus.BAD_REQUEST, f"Content-Length: must be an integer from 0 to {LONGEST_BODY}"
                )
            return self.rfile.read(int(length))

        def log_message(self, format: str, *args: Any) -> None:
            pass  # a line per request tells nothing here; refusals go to who asked

    return Server((host, port), Handler)
