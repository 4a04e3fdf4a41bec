"""The two ways in which checks reach a stage: a TCP connection and an HTTP request."""

import socket
from typing import Any
from urllib.parse import urlsplit

import requests

from sluice.cli.doctor.finding import Diagnosis, NoStageError, NotAnsweringError
from sluice.cli.environment import NONE, with_scheme

START = "start it (local stack: `make up`); if it ran, its log (.cache/stack/logs) has the cause of its end"


def host_and_port(address: str) -> tuple[str, int]:
    """Raises NotAnsweringError when the address has no port, NoStageError when it is NONE."""
    if address == NONE:
        raise NoStageError
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None:
        raise NotAnsweringError(f"{address!r} is not HOST:PORT")
    return host, port


def open_port(address: str, timeout_s: float) -> None:
    """Raises NotAnsweringError when nothing accepts a connection."""
    try:
        socket.create_connection(host_and_port(address), timeout=timeout_s).close()
    except OSError as error:
        raise NotAnsweringError(f"nothing listens on {address} ({error.strerror or error})") from None


def get(url: str, timeout_s: float, authority: str = "") -> requests.Response:
    """HTTP GET; returns every status. Raises NotAnsweringError when there is no answer, NoStageError for NONE.

    authority: PEM file of the authority that signed the server's certificate.
    """
    if url.partition("/")[0] == NONE:
        raise NoStageError
    try:
        return requests.get(with_scheme(url), timeout=timeout_s, verify=authority or True)
    except requests.Timeout:
        raise NotAnsweringError(f"{url} did not answer within {timeout_s:g} s") from None
    except requests.RequestException as error:
        refused = "connection refused" if "refused" in str(error).lower() else type(error).__name__
        raise NotAnsweringError(f"{url} does not answer ({refused})") from None
    except OSError as error:
        raise NotAnsweringError(f"cannot query {url}: {error}") from None


def get_metrics(address: str, timeout_s: float) -> str:
    """The Prometheus text under /metrics of an address. Raises NotAnsweringError."""
    answer = get(f"{address}/metrics", timeout_s)
    if not answer.ok:
        raise NotAnsweringError(f"{address} answered HTTP {answer.status_code}")
    return answer.text


def get_json(url: str, timeout_s: float) -> Any:
    """The JSON of a successful GET. Raises NotAnsweringError otherwise."""
    answer = get(url, timeout_s)
    if not answer.ok:
        raise NotAnsweringError(f"{url} answered HTTP {answer.status_code}")
    try:
        return answer.json()
    except ValueError:
        raise NotAnsweringError(f"{url} did not answer JSON") from None


def readiness(address: str, timeout_s: float, remedy: str) -> Diagnosis:
    """Of a process of ours by its page /readyz, which names the causes. Raises NoStageError for NONE."""
    try:
        answer = get(f"{address}/readyz", timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    if not answer.ok:
        causes = "; ".join(answer.text.splitlines()) or f"HTTP {answer.status_code}"
        return Diagnosis("fail", f"{address} is not ready: {causes}", remedy)
    return Diagnosis("ok", f"ready at {address}")
