"""A small Spring Boot application, tests/testbed/springboot, as a process, and users of it."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from sluice_kit.applications.tomcat import java_agent
from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from stack.installs import AGENTS, SPRING_BOOT
from stack.layout import java_home


@dataclass(frozen=True)
class SpringBoot:
    """An application that is up. `management` serves /actuator: the same address, or one of its own."""

    url: str
    management: str

    @property
    def jolokia(self) -> str:
        return f"{self.management}/actuator/jolokia"

    def ask(self, kind: str, mbean: str, **more: str) -> Any:
        """Jolokia's value."""
        answer = requests.post(self.jolokia, json={"type": kind, "mbean": mbean, **more}, timeout=10).json()
        assert answer["status"] == 200, answer
        return answer["value"]

    def most(self, users: int, seconds: float) -> dict[str, int]:
        """Of the requests and connections that worked at once, the most, while so many users ask one after another."""
        requests.get(f"{self.url}/most", timeout=10)
        faults: list[str] = []
        end = time.monotonic() + seconds

        def user() -> None:
            with requests.Session() as session:
                while time.monotonic() < end:
                    answer = session.get(f"{self.url}/work", timeout=60)
                    if not answer.ok:
                        faults.append(f"{answer.status_code}: {answer.text[:200]}")

        all_users = [threading.Thread(target=user) for _ in range(users)]
        for thread in all_users:
            thread.start()
        for thread in all_users:
            thread.join()
        assert not faults, faults[:3]
        counts: dict[str, int] = requests.get(f"{self.url}/most", timeout=10).json()
        return counts


@contextmanager
def spring_boot(
    database: str,
    log: Path,
    own_port: bool,
    cores: Iterable[int] = (),
    connections: int = 0,
    otlp: str = "",
    service: str = "spring",
) -> Iterator[SpringBoot]:
    """Runs it with Spring Boot's own defaults. own_port: /actuator has a port of its own, as is usual in production.

    cores: only these. connections: of HikariCP. otlp: its spans and metrics go there, as `service`, by OpenTelemetry's
    agent.
    """
    jar = SPRING_BOOT / "target/application.jar"
    if not jar.exists():
        raise FileNotFoundError(
            f"start the tests' Spring Boot application: {jar} is missing; `make test-long` sets it up"
        )
    port, management = free_ports(2)
    url = f"http://127.0.0.1:{port}"
    app = SpringBoot(url, f"http://127.0.0.1:{management}" if own_port else url)
    command: list[str | Path] = [
        java_home() / "bin/java",
        *([f"-javaagent:{AGENTS}/opentelemetry-javaagent.jar"] if otlp else []),
        *("-Xms128m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-jar", jar, f"--server.port={port}", f"--spring.datasource.url={database}"),
        *([f"--spring.datasource.hikari.maximum-pool-size={connections}"] if connections else []),
        *(["--management.server.address=127.0.0.1", f"--management.server.port={management}"] if own_port else []),
    ]

    # The pool of connections, and with it its beans, begins with the first connection.
    pages = (f"{url}/work", f"{app.management}/actuator/health")

    def ready() -> bool:
        try:
            return all(requests.get(page, timeout=5).ok for page in pages)
        except requests.RequestException:
            return False

    environment = os.environ | (java_agent(service, otlp) if otlp else {})
    words = pinned(cores or os.sched_getaffinity(0), command)
    with running("Spring Boot", words, ready, log, 180, environment, poll_s=0.5):
        yield app
