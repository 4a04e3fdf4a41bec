"""process-compose: starts it detached, and talks to its REST interface."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stack import environment
from stack.http import UnreachableError, request, request_json
from stack.layout import BIN, LOCAL
from stack.settings import REPOSITORY, Settings
from stack.steps import StepError

COMPOSE = LOCAL / "process-compose.yaml"
ONE_SHOT = {"topics", "migrate"}
DEMO = {"demo"}


@dataclass(frozen=True)
class Process:
    """What the supervisor knows of one process. `age_s` counts from its last start."""

    name: str
    status: str
    ready: str
    pid: int
    restarts: int
    exit_code: int
    age_s: float
    memory_bytes: int
    has_probe: bool

    @property
    def up(self) -> bool:
        """Running and, where it has a probe, ready; or, for what runs once, done with success."""
        if self.name in ONE_SHOT:
            return self.status == "Completed" and self.exit_code == 0
        return self.status == "Running" and (self.ready == "Ready" or not self.has_probe)

    @property
    def failed(self) -> bool:
        """Ended for good: it will not be started again by itself."""
        return self.status in ("Error", "Skipped") or (self.status == "Completed" and not self.up)


def parse(data: dict[str, Any]) -> Process:
    """A process from an entry of GET /processes; process-compose counts age in nanoseconds."""
    return Process(
        name=data["name"],
        status=data["status"],
        ready=data["is_ready"],
        pid=data["pid"],
        restarts=data["restarts"],
        exit_code=data["exit_code"],
        age_s=data["age"] / 1e9,
        memory_bytes=data["mem"],
        has_probe=data["has_ready_probe"],
    )


class Supervisor:
    """The process-compose of one stack."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = f"http://{settings.address('supervisor')}"

    def processes(self) -> list[Process]:
        """Raises UnreachableError when the supervisor is not there."""
        return [parse(entry) for entry in request_json(f"{self._base}/processes")["data"] or []]

    def is_up(self) -> bool:
        try:
            return bool(request_json(f"{self._base}/live", timeout_s=2.0).get("status") == "alive")
        except (UnreachableError, AttributeError):
            return False

    def start(self, *, demo: bool, apply: Sequence[str] = (), only: Sequence[str] = ()) -> None:
        """Starts process-compose in a session of its own and waits until it answers. Raises StepError.

        `only`: these processes and what they depend on; all when it is empty.
        """
        settings = self._settings
        log = settings.logs / "process-compose.log"
        words = [BIN / "process-compose", "up", "-f", COMPOSE, "--tui=false", "--keep-project", "--disable-dotenv"]
        words += ["--ordered-shutdown", "--address", settings.host, "--port", str(settings.ports["supervisor"])]
        words += ["--log-file", log, "--namespace", "default"]
        words += ["--namespace", "demo"] if demo else []
        words += only
        child = subprocess.Popen(
            [str(word) for word in words],
            cwd=REPOSITORY,
            env=environment.supervised(settings, os.environ, apply),
            stdin=subprocess.DEVNULL,
            # It repeats every line of every process here; each has a log of its own.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20.0
        while not self.is_up():
            if child.poll() is not None or time.monotonic() > deadline:
                raise StepError("process-compose did not start", log=log, advice="read its log")
            time.sleep(0.2)

    def start_process(self, name: str) -> None:
        request(f"{self._base}/process/start/{name}", method="POST", timeout_s=30.0)

    def stop_process(self, name: str) -> None:
        request(f"{self._base}/process/stop/{name}", method="PATCH", timeout_s=60.0)

    def restart_process(self, name: str) -> None:
        request(f"{self._base}/process/restart/{name}", method="POST", timeout_s=60.0)

    def shut_down(self) -> None:
        request(f"{self._base}/project/stop", method="POST", timeout_s=120.0)
