"""The HTTP API of a running demo: its pools, how slow its services are, its health, its statistics."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from . import pages_of_browsers
from .adjustable import AdjustablePool
from .handover import Handover
from .service import Service

LONGEST_BODY = 65536
WAITS = (0.1, 20.0)
"""Times that a service may wait as long as specified."""


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
    size = _value(body, "size", legal)
    if not isinstance(size, int) or isinstance(size, bool) or not lowest <= size <= highest:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"size: must be {legal}, got {json.dumps(size)[:40]}")
    return size


def parse_waits(body: bytes) -> float:
    """The factor in ``{"waits": 3}``.

    Raises:
        RefusedError: it is not that, or the factor is not a number in WAITS.
    """
    legal = f"a number from {WAITS[0]:g} to {WAITS[1]:g}"
    waits = _value(body, "waits", legal)
    if not isinstance(waits, int | float) or isinstance(waits, bool) or not WAITS[0] <= waits <= WAITS[1]:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"waits: must be {legal}, got {json.dumps(waits)[:40]}")
    return float(waits)


def _value(body: bytes, field: str, legal: str) -> Any:
    """The value of the only field of a JSON object."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise RefusedError(HTTPStatus.BAD_REQUEST, f'body: must be a JSON object {{"{field}": {legal}}}')
    unknown = sorted(set(document) - {field})
    if unknown:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{unknown[0]}: unknown field, the only one is {field}, {legal}")
    if field not in document:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{field}: missing, must be {legal}")
    return document[field]


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
    """GET /pools, GET and PUT /pools/NAME, the same of /services, GET /stats, GET /healthz; every answer is JSON."""

    def __init__(
        self,
        pools: dict[str, AdjustablePool],
        services: Mapping[str, Service],
        stats: Callable[[], dict[str, Any]],
        handover: Handover,
    ) -> None:
        self._pools = pools
        self._services = services
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
            case ["services"]:
                _only(method, "GET")
                return {
                    "services": self._handover.ask(lambda: [_speed(service) for service in self._services.values()])
                }
            case ["services", name]:
                return self._service(method, unquote(name), body)
        paths = "/pools, /pools/NAME, /services, /services/NAME, /stats, /healthz"
        raise RefusedError(HTTPStatus.NOT_FOUND, f"path: must be one of {paths}")

    def _service(self, method: str, name: str, body: bytes) -> dict[str, Any]:
        _only(method, "GET", "PUT")
        service = self._services.get(name)
        if service is None:
            known = ", ".join(sorted(self._services))
            raise RefusedError(HTTPStatus.NOT_FOUND, f"service: {name!r} is unknown, must be one of {known}")
        if method == "GET":
            return self._handover.ask(lambda: _speed(service))
        waits = parse_waits(body)
        return self._handover.ask(lambda: _slowed(service, waits))


def _only(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, f"method: must be {' or '.join(allowed)}, got {method}")


def _resized(pool: AdjustablePool, size: int) -> dict[str, Any]:
    pool.resize(size)
    return describe(pool)


def _speed(service: Service) -> dict[str, Any]:
    return {"name": service.spec.name, "waits": service.waits}


def _slowed(service: Service, waits: float) -> dict[str, Any]:
    service.slow(waits)
    return _speed(service)


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
                if refusal := pages_of_browsers.fault(self.headers.get("Host"), self.headers.get("Origin")):
                    self.close_connection = True
                    raise RefusedError(HTTPStatus.FORBIDDEN, refusal)
                body = self._body()
                status, document = HTTPStatus.OK, control.answer(self.command, urlsplit(self.path).path, body)
            except RefusedError as error:
                status, document = error.status, {"error": str(error)}
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
