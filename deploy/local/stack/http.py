"""JSON over HTTP to the servers of the stack, with the standard library."""

import http.client
import json
import urllib.error
import urllib.request
from typing import Any


class UnreachableError(Exception):
    """A server that did not answer, or not with success; the message says which and why."""


def request(url: str, *, method: str = "GET", body: Any = None, timeout_s: float = 5.0) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    outgoing = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(outgoing, timeout=timeout_s) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        detail = error.read().decode(errors="replace").strip()[:300]
        raise UnreachableError(f"{method} {url} answered {error.code}: {detail}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise UnreachableError(f"{method} {url} failed: {getattr(error, 'reason', error)}") from error


def request_json(url: str, *, method: str = "GET", body: Any = None, timeout_s: float = 5.0) -> Any:
    answer = request(url, method=method, body=body, timeout_s=timeout_s)
    try:
        return json.loads(answer)
    except ValueError as error:
        raise UnreachableError(f"{method} {url} did not answer with JSON") from error
