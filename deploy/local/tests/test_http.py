"""Servers that do not answer as HTTP servers do: every way ends in UnreachableError, which callers expect."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stack.http import UnreachableError, request_json


@contextmanager
def answering(reply: bytes) -> Iterator[str]:
    """The URL of a server that answers one request with `reply` and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/live"
        thread.join(10)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"SSH-2.0-server\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["hangs up", "another protocol", "cut off", "no JSON", "error"],
)
def test_no_answer_is_unreachable(reply: bytes) -> None:
    with answering(reply) as url, pytest.raises(UnreachableError, match=url):
        request_json(url)


def test_an_answer() -> None:
    with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a": 12}') as url:
        assert request_json(url) == {"a": 12}
