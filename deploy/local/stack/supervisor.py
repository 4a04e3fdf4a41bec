"""supervisord: starts it detached, and talks to it over its socket, which only this user may open."""

import http.client
import os
import socket
import subprocess
import time
import xmlrpc.client
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack import environment, programs, readiness
from stack.http import UnreachableError
from stack.layout import LOCAL, TOOLS_PYTHON
from stack.programs import Program
from stack.settings import REPOSITORY, Settings
from stack.steps import StepError

# supervisor.xmlrpc.Faults: what is asked for is so already, or failed at once and is tried again by supervisord.
NOT_RUNNING, ALREADY_STARTED, SPAWN_ERROR = 70, 60, 50
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """What is known of one program. state: as supervisord names it. started: Unix time of its last start.

    exit_code: of its last run, 0 before that ended. restarts: those that nobody asked for.
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
    """The supervisord of one stack. Every method but start and is_up raises UnreachableError when it is not there."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._directory = settings.state / "supervisor"
        self._programs = programs.load()

    @property
    def log(self) -> Path:
        return self._settings.logs / "supervisord.log"

    def processes(self) -> list[Process]:
        """Those that it was started with; each is asked now whether it is ready."""
        counts = self._counts()
        return [self._process(facts, counts) for facts in self._listed()]

    def process(self, name: str) -> Process:
        """One of them, without asking the others. Raises KeyError for one that it was not started with."""
        return self._process({facts["name"]: facts for facts in self._listed()}[name], self._counts())

    def is_up(self) -> bool:
        try:
            return bool(
                self._call(lambda server: server.supervisor.getState(), timeout_s=2.0)["statename"] == "RUNNING"
            )
        except UnreachableError:
            return False

    def start(self, chosen: dict[str, Program], apply: Sequence[str] = ()) -> None:
        """Starts supervisord for `chosen`, none of them yet, in a session of its own. Raises StepError."""
        settings = self._settings
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        variables = environment.supervised(settings, os.environ, apply)
        text = programs.configuration(chosen, variables, REPOSITORY, settings.logs)
        (self._directory / "supervisord.conf").write_text(text)
        with self.log.open("a") as log:
            child = subprocess.Popen(
                [str(TOOLS_PYTHON), str(LOCAL / "supervise.py"), "-c", "supervisord.conf"],
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
        self._call(lambda server: server.supervisor.startProcess(name, False), but=(ALREADY_STARTED, SPAWN_ERROR))

    def stop_process(self, name: str) -> None:
        """Returns when it has ended, or was not running."""
        self._stop(name, wait=True)

    def restart_process(self, name: str) -> None:
        self.stop_process(name)
        self.start_process(name)

    def shut_down(self) -> None:
        """Stops every program, those that others need last, then supervisord, which may be still ending."""
        for group in programs.stop_order({facts["name"]: self._program(facts["name"]) for facts in self._listed()}):
            for name in group:
                self._stop(name, wait=False)
            deadline = time.monotonic() + max(self._program(name).stop_within_s for name in group) + 10.0
            while any(facts["statename"] == "STOPPING" and facts["name"] in group for facts in self._listed()):
                if time.monotonic() > deadline:
                    break  # it kills what does not end; whatever is left then is for processes.stop
                time.sleep(0.1)
        self._call(lambda server: server.supervisor.shutdown())

    def _stop(self, name: str, *, wait: bool) -> None:
        self._call(lambda server: server.supervisor.stopProcess(name, wait), timeout_s=60.0, but=(NOT_RUNNING,))

    def _listed(self) -> list[dict[str, Any]]:
        return list(self._call(lambda server: server.supervisor.getAllProcessInfo()))

    def _counts(self) -> dict[str, int]:
        return dict(self._call(lambda server: server.restarts.counts()))

    def _program(self, name: str) -> Program:
        """Also of a name that programs.toml has no more."""
        return self._programs.get(name, Program(name, does="", command=""))

    def _process(self, facts: dict[str, Any], counts: dict[str, int]) -> Process:
        alive = facts["statename"] in ("STARTING", "RUNNING")
        return Process(
            name=facts["name"],
            state=facts["statename"],
            ready=alive and readiness.answers(self._program(facts["name"]).ready, self._settings),
            pid=facts["pid"],
            restarts=counts.get(facts["name"], 0),
            exit_code=facts["exitstatus"],
            started=float(facts["start"]),
            memory_bytes=resident_bytes(facts["pid"]) if alive else 0,
        )

    def _call(self, ask: Callable[[Any], Any], timeout_s: float = 10.0, but: Sequence[int] = ()) -> Any:
        """The answer; None for a fault of `but`."""
        try:
            with xmlrpc.client.ServerProxy(
                "http://localhost", transport=_Transport(self._directory, timeout_s)
            ) as server:
                return ask(server)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode in but:
                return None
            raise UnreachableError(f"supervisord says {fault.faultString}") from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise UnreachableError(f"supervisord on {self._directory / programs.SOCKET} failed: {error}") from error


def resident_bytes(pid: int) -> int:
    """Of one process, as proc_pid_statm(5) has it; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


class _Connection(http.client.HTTPConnection):
    """To a socket, named through its open directory: a socket's path may have 107 bytes, a directory's more."""

    def __init__(self, directory: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._directory = directory

    def connect(self) -> None:
        descriptor = os.open(self._directory, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{descriptor}/{programs.SOCKET}")
        finally:
            os.close(descriptor)


class _Transport(xmlrpc.client.Transport):
    def __init__(self, directory: Path, timeout_s: float) -> None:
        super().__init__()
        self._directory = directory
        self._timeout_s = timeout_s

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = _Connection(self._directory, self._timeout_s)
        self._connection = host, connection
        return connection
