"""supervisord: starts it detached, and calls it over its socket, which only this user may open."""

import os
import subprocess
import time
import xmlrpc.client
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from stack import environment, private, programs, readiness
from stack.http import UnreachableError
from stack.layout import LOCAL, TOOLS_PYTHON
from stack.programs import Program
from stack.settings import REPOSITORY, Settings
from stack.steps import StepError
from stack.unix_socket import Transport

# supervisor.xmlrpc.Faults: the program is so already, or failed at once and supervisord tries it again.
NOT_RUNNING, ALREADY_STARTED, SPAWN_ERROR = 70, 60, 50
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """The state of one program, with supervisord's name for it. started: Unix time of its last start.

    exit_code: of its last run, 0 before that ended. restarts: those that supervisord made of its own accord.
    """

    name: str
    state: str
    ready: bool
    pid: int
    restarts: int
    exit_code: int
    started: float
    memory_bytes: int

    @property
    def alive(self) -> bool:
        return self.state in ("STARTING", "RUNNING")

    @property
    def up(self) -> bool:
        return self.alive and self.ready


class Supervisor:
    """The supervisord of one stack. Methods but start and is_up raise UnreachableError when it does not answer."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._directory = settings.state / "supervisor"
        self._programs = programs.load()

    @property
    def log(self) -> Path:
        return self._settings.logs / "supervisord.log"

    def processes(self) -> list[Process]:
        """One for each program that it was started with; readiness is probed now."""
        restarts = self._restarts()
        return [self._process(facts, restarts) for facts in self._facts().values()]

    def process(self, name: str) -> Process:
        """Probes this one only. Raises KeyError for one that it was not started with."""
        return self._process(self._facts()[name], self._restarts())

    def is_up(self) -> bool:
        try:
            state = self._call(lambda server: server.supervisor.getState(), timeout_s=2.0)
        except UnreachableError:
            return False
        return bool(state["statename"] == "RUNNING")

    def start(self, chosen: dict[str, Program], apply: Sequence[str] = ()) -> None:
        """Starts supervisord for `chosen`, none of them yet, in a session of its own. Raises StepError."""
        settings = self._settings
        private.directory(self._directory)
        variables = environment.supervised(settings, os.environ, apply)
        text = programs.configuration(chosen, variables, REPOSITORY, settings.logs)
        (self._directory / "supervisord.conf").write_text(text)
        with self.log.open("a") as log:
            child = subprocess.Popen(
                [TOOLS_PYTHON, LOCAL / "supervise.py", "-c", "supervisord.conf"],
                cwd=self._directory,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 20.0
        while not self.is_up():
            if child.poll() is not None or time.monotonic() > deadline:
                raise StepError("supervisord did not start", log=self.log, advice="read its log")
            time.sleep(0.1)

    def start_process(self, name: str) -> None:
        """Returns when it was started, or was running already. One that fails at once is tried again."""
        full = self._full_name(name)
        self._call(lambda server: server.supervisor.startProcess(full, False), ignored=(ALREADY_STARTED, SPAWN_ERROR))

    def stop_process(self, name: str) -> None:
        """Returns when it has ended, or was not running."""
        full = self._full_name(name)
        self._call(lambda server: server.supervisor.stopProcess(full), timeout_s=60.0, ignored=(NOT_RUNNING,))

    def restart_process(self, name: str) -> None:
        self.stop_process(name)
        self.start_process(name)

    def shut_down(self) -> None:
        """supervisord begins to stop every program, those that others need last, and then ends itself."""
        self._call(lambda server: server.supervisor.shutdown())

    def _facts(self) -> dict[str, dict[str, Any]]:
        """supervisord's facts about each program, by its name."""
        return {facts["name"]: facts for facts in self._call(lambda server: server.supervisor.getAllProcessInfo())}

    def _full_name(self, name: str) -> str:
        return f"{self._facts()[name]['group']}:{name}"

    def _restarts(self) -> dict[str, int]:
        return dict(self._call(lambda server: server.restarts.counts()))

    def _process(self, facts: dict[str, Any], restarts: dict[str, int]) -> Process:
        name, alive = facts["name"], facts["statename"] in ("STARTING", "RUNNING")
        program = self._programs.get(name, Program(name, does="", command=""))  # an older programs.toml had it
        return Process(
            name=name,
            state=facts["statename"],
            ready=alive and readiness.answers(program.ready, self._settings),
            pid=facts["pid"],
            restarts=restarts.get(name, 0),
            exit_code=facts["exitstatus"],
            started=float(facts["start"]),
            memory_bytes=resident_bytes(facts["pid"]) if alive else 0,
        )

    def _call(self, method: Callable[[Any], Any], timeout_s: float = 10.0, ignored: Sequence[int] = ()) -> Any:
        """The answer; None for a fault of `ignored`."""
        transport = Transport(self._directory, programs.SOCKET, timeout_s)
        try:
            with xmlrpc.client.ServerProxy("http://localhost", transport=transport) as server:
                return method(server)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode in ignored:
                return None
            raise UnreachableError(f"supervisord refuses: {fault.faultString}") from fault
        except (OSError, HTTPException, xmlrpc.client.Error) as error:
            raise UnreachableError(f"supervisord on {self._directory / programs.SOCKET} failed: {error}") from error


def resident_bytes(pid: int) -> int:
    """Of one process, as proc_pid_statm(5) has it; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except OSError:
        return 0
