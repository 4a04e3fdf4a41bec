"""Readiness of a program of the stack, by the probe in programs.toml."""

import socket

from stack.http import UnreachableError, request
from stack.settings import Settings

WITHIN_S = 2.0


def answers(ready: str, settings: Settings) -> bool:
    """`ready`: "tcp PORT" or "http PORT /path", or "" for a program without a probe, which counts as ready.

    Raises ValueError for another form.
    """
    if not ready:
        return True
    kind, port, *path = ready.split()
    if kind == "tcp" and not path:
        return _listens(settings.reached if port == "recommender" else settings.host, settings.ports[port])
    if kind == "http" and len(path) == 1:
        return _succeeds(f"http://{settings.address(port)}{path[0]}")
    raise ValueError(f'ready = "{ready}" is neither "tcp PORT" nor "http PORT /path"')


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=WITHIN_S):
            return True
    except OSError:
        return False


def _succeeds(url: str) -> bool:
    try:
        request(url, timeout_s=WITHIN_S)
    except UnreachableError:
        return False
    return True
