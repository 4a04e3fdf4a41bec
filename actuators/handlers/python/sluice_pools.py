"""Lets an actuator read and set the size of a running Python program's pools: GET and PUT /NAME.

    engine = create_engine(url, poolclass=ResizablePool)
    serve("127.0.0.1", 8099, "/run/secrets/pools", {"rows": engine.pool})

Processes (of gunicorn or uvicorn) are none: they cannot be resized while they run, and each has a pool of its own.
"""

import hmac
import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

LARGEST, LONGEST_BODY, SHORTEST_TOKEN = 65535, 1024, 16
Application = Callable[[dict[str, Any], Callable[..., Any]], list[bytes]]


class Pool(Protocol):
    """What can be resized while it runs; a pool of Thrift clients is one with these two methods.

    One that has `use() -> tuple[int | None, int | None]` tells too how many are in use, and how many callers wait for
    one; None: it is not known.
    """

    def resize(self, limit: int) -> None:
        """Sets the limit, at least 1."""

    def sizes(self) -> tuple[int, int]:
        """The limit, 0 for none, and how many connections there are now."""


class Server(ThreadingMixIn, WSGIServer):
    """Serves each request in a thread of its own."""

    daemon_threads = True


class _Request(WSGIRequestHandler):
    timeout = 10

    def log_message(self, *_: object) -> None: ...


def serve(host: str, port: int, token_file: str, pools: Mapping[str, Pool]) -> Server:
    """Serves `handler` in a thread of its own. OpenTelemetry has no instrumentation of `wsgiref`: it makes no spans.

    Raises as `handler`, and OSError where it cannot listen.
    """
    server = make_server(host, port, handler(token_file, pools), Server, _Request)
    threading.Thread(target=server.serve_forever, name="sluice-pools", daemon=True).start()
    return server


def handler(token_file: str, pools: Mapping[str, Pool]) -> Application:
    """A WSGI application, to mount in a server of the program. Answers who sends the token that token_file has now, of
    16 characters or more.

    {"size": limit, "open": n} of each pool, and "busy" and "waiting" as far as it tells; a PUT of {"size": n} resizes,
    and answers what is then. Raises ValueError for a token that is shorter, OSError for a file that cannot be read.
    """
    _token(token_file)

    def answer(environ: dict[str, Any]) -> tuple[HTTPStatus, dict[str, Any]]:
        if wrong := _refusal(token_file, environ.get("HTTP_AUTHORIZATION", "")):
            return HTTPStatus.UNAUTHORIZED, {"error": wrong}
        pool = pools.get(environ.get("PATH_INFO", "").strip("/"))
        if pool is None:
            return HTTPStatus.NOT_FOUND, {"error": "no such pool"}
        if environ["REQUEST_METHOD"] not in ("GET", "PUT"):
            return HTTPStatus.METHOD_NOT_ALLOWED, {"error": "want GET or PUT"}
        if environ["REQUEST_METHOD"] == "PUT":
            size = _size(_body(environ))
            if not size:
                return HTTPStatus.BAD_REQUEST, {"error": f"size: want 1 to {LARGEST}"}
            pool.resize(size)
        limit, there = pool.sizes()
        return HTTPStatus.OK, {"size": limit, "open": there} | _use(pool)

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        status, fields = answer(environ)
        text = json.dumps(fields).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(text)))]
        start(f"{status.value} {status.phrase}", headers)
        return [text]

    return application


def _body(environ: dict[str, Any]) -> bytes:
    """Empty where it is too long."""
    length = environ.get("CONTENT_LENGTH", "")
    legal = length.isdecimal() and len(length) <= 4 and int(length) <= LONGEST_BODY  # int() refuses 5,000 digits
    body: bytes = environ["wsgi.input"].read(int(length)) if legal else b""
    return body


def _use(pool: Pool) -> dict[str, int]:
    tells = getattr(pool, "use", None)
    figures = zip(("busy", "waiting"), tells(), strict=True) if tells is not None else ()
    return {name: number for name, number in figures if number is not None}


def _token(token_file: str) -> str:
    token = Path(token_file).read_text().strip()
    if len(token) < SHORTEST_TOKEN:
        raise ValueError(f"token_file: want {SHORTEST_TOKEN} characters or more, got {len(token)}")
    return token


def _refusal(token_file: str, authorization: str) -> str:
    """Why a request is refused; "" for the bearer of the token."""
    try:
        token = _token(token_file)
    except ValueError as error:
        return str(error)
    except OSError as error:
        return f"token_file: {error.strerror}"
    if hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
        return ""
    return "want Authorization: Bearer TOKEN, with the token of this program's token_file"


def _size(body: bytes) -> int:
    """0 where the body has none that is legal."""
    try:
        size = json.loads(body)["size"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return size if type(size) is int and 1 <= size <= LARGEST else 0
