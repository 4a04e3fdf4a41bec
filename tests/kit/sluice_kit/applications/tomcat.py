"""The real application of the tests: tests/testbed/tomcat with its agents, as a process."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from stack.installs import AGENTS, TOMCAT
from stack.layout import java_home


@dataclass(frozen=True)
class Application:
    """A Tomcat that is up, as process `pid`; its pool of threads is read and written over Jolokia."""

    url: str
    jolokia: str
    mbean: str
    pid: int

    @property
    def max_threads(self) -> int:
        return int(self._ask({"type": "read", "mbean": self.mbean, "attribute": "maxThreads"}))

    @property
    def threads(self) -> int:
        """Threads that the pool has now, busy or not."""
        return int(self._ask({"type": "read", "mbean": self.mbean, "attribute": "currentThreadCount"}))

    def resize(self, threads: int) -> None:
        self._ask({"type": "write", "mbean": self.mbean, "attribute": "maxThreads", "value": threads})

    def read(self, mbean: str, attribute: str) -> int:
        return int(self._ask({"type": "read", "mbean": mbean, "attribute": attribute}))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Jolokia's whole answer, also to what it refuses."""
        answer: dict[str, Any] = requests.post(self.jolokia, json=request, timeout=10).json()
        return answer

    def _ask(self, request: dict[str, Any]) -> Any:
        answer = self.ask(request)
        assert answer["status"] == 200, answer  # Jolokia answers HTTP 200 to what it refuses, too
        return answer["value"]


@contextmanager
def application(
    service: str,
    threads: int,
    database: str,
    cores: Iterable[int],
    log: Path,
    otlp: str = "",
    spare_threads: int | None = 1,
    agents: bool = True,
    connections: int | None = None,
    quick: bool = True,
    defaults: bool = False,
) -> Iterator[Application]:
    """Runs it as `service` with `threads` threads on `cores` only; spans go to `otlp` (gRPC), or nowhere.

    spare_threads: fewer than so many Tomcat's pool cannot have; None: Tomcat's default, 10. agents: False has neither
    OpenTelemetry's nor Jolokia's, and its size cannot be read. connections: of HikariCP; None: as many as threads.
    quick: Java's first compiler only, as fast after seconds as after minutes; False: both, as Java has it. defaults:
    OpenTelemetry's agent as it is, metrics and spans of JDBC too.
    """
    if not (TOMCAT / "target/application.jar").exists() or not AGENTS.exists():
        raise FileNotFoundError("start the tests' Tomcat: its jar or agents are missing; `make test` sets them up")
    port, jolokia = free_ports(2)
    command: list[str | Path] = [
        java_home() / "bin/java",
        *("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC"),  # one core's garbage collector
        *(["-XX:TieredStopAtLevel=1"] if quick else []),
        *([f"-Dtestbed.minSpareThreads={spare_threads}"] if spare_threads else []),
        *([f"-Dtestbed.connections={connections}"] if connections else []),
        *(_agents(jolokia) if agents else ()),
        *("-jar", TOMCAT / "target/application.jar", str(port), str(threads), database),
    ]
    url = f"http://127.0.0.1:{port}"
    environment = os.environ | (java_agent(service, otlp) if defaults else _agent(service, otlp))
    words = pinned(cores, command)  # which become Java: the process keeps its number
    with running("Tomcat", words, lambda: _answers(f"{url}/plain"), log, 180, environment, poll_s=0.5) as process:
        mbean = f'Tomcat:type=ThreadPool,name="http-nio-127.0.0.1-{port}"'
        yield Application(url, f"http://127.0.0.1:{jolokia}/jolokia/", mbean, process.pid)


def _agents(jolokia: int) -> list[str]:
    return [
        f"-javaagent:{AGENTS}/opentelemetry-javaagent.jar",
        f"-javaagent:{AGENTS}/jolokia-agent-jvm-javaagent.jar=host=127.0.0.1,port={jolokia},discoveryEnabled=false",
    ]


def java_agent(service: str, otlp: str) -> dict[str, str]:
    """OpenTelemetry's agent with all its defaults."""
    return {
        "OTEL_SERVICE_NAME": service,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp}",
    }


def _agent(service: str, otlp: str) -> dict[str, str]:
    return {
        "OTEL_SERVICE_NAME": service,
        "OTEL_TRACES_EXPORTER": "otlp" if otlp else "none",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp}",
        # Two spans an attempt, which nobody asks about here: the whole pipeline has one core.
        "OTEL_INSTRUMENTATION_JDBC_ENABLED": "false",
        "OTEL_BSP_MAX_QUEUE_SIZE": "65536",  # the default drops spans under a burst
        "OTEL_BSP_SCHEDULE_DELAY": "500",
    }


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).ok
    except requests.RequestException:
        return False
