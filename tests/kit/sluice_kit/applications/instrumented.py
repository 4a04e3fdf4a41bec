"""Services that know nothing of Sluice, tests/testbed/instrumented, as processes, with OpenTelemetry's defaults."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from stack.installs import BIN, INSTRUMENTED, INSTRUMENTED_PYTHON

THREADS = 100
"""Of waitress: more than connections, so that these are what requests wait for."""


def hot_rows(jdbc: str) -> int:
    """Makes the rows and the function of hot.sql in a database; its port."""
    port = urlsplit(jdbc.removeprefix("jdbc:")).port
    assert port is not None, jdbc
    with psycopg.connect(f"host=127.0.0.1 port={port} user=sluice dbname=postgres", autocommit=True) as database:
        database.execute((INSTRUMENTED / "hot.sql").read_bytes())
    return port


@contextmanager
def go_service(
    name: str, database: int, connections: int, cores: Iterable[int], log: Path, otlp: str, interval_s: float = 60
) -> Iterator[str]:
    """The URL of its work. otlp: host:port of the receiver. interval_s: of its metrics, by default OpenTelemetry's."""
    (port,) = free_ports(1)
    dsn = f"postgres://sluice@127.0.0.1:{database}/postgres?sslmode=disable"
    command: list[str | Path] = [BIN / "instrumented", str(port), dsn, str(connections)]
    url = f"http://127.0.0.1:{port}/update"
    with running(name, pinned(cores, command), answers(url), log, 60, _environment(name, otlp, interval_s)):
        yield url


@contextmanager
def python_service(
    name: str, database: int, connections: int, cores: Iterable[int], log: Path, otlp: str, interval_s: float = 60
) -> Iterator[str]:
    """As go_service."""
    (port,) = free_ports(1)
    tools = (INSTRUMENTED_PYTHON / name for name in ("opentelemetry-instrument", "waitress-serve"))
    # Waitress takes 100 clients by default, and its users keep their connections.
    command: list[str | Path] = [
        *tools,
        f"--listen=127.0.0.1:{port}",
        f"--threads={THREADS}",
        "--connection-limit=1000",
        "service:app",
    ]
    environment = _environment(name, otlp, interval_s) | {
        "DATABASE": f"postgresql+psycopg://sluice@127.0.0.1:{database}/postgres",
        "CONNECTIONS": str(connections),
        "PYTHONPATH": str(INSTRUMENTED / "python"),
    }
    url = f"http://127.0.0.1:{port}/update"
    with running(name, pinned(cores, command), answers(url), log, 60, environment):
        yield url


def _environment(name: str, otlp: str, interval_s: float) -> dict[str, str]:
    return os.environ | {
        "OTEL_SERVICE_NAME": name,
        "OTEL_RESOURCE_ATTRIBUTES": f"service.instance.id={name}-1",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp}",
        "OTEL_METRIC_EXPORT_INTERVAL": f"{interval_s * 1e3:g}",
    }
