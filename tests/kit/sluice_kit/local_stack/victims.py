"""Kills processes of the stack as a crash would, or stops them, and waits until the supervisor has them back."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from sluice_kit.local_stack.driver import Stack
from sluice_kit.waiting import until
from stack.settings import load
from stack.supervisor import Process, Supervisor


class Victims:
    """The processes of one stack, by the names that `make status` shows."""

    def __init__(self, stack: Stack) -> None:
        self._supervisor = Supervisor(load(stack.environment))

    def kill(self, name: str) -> int:
        """SIGKILL, which no process can answer; returns the pid that is gone."""
        process = self._process(name)
        assert process.up, f"{name} is not up before it is killed"
        os.kill(process.pid, signal.SIGKILL)
        return process.pid

    def pid(self, name: str) -> int:
        return self._process(name).pid

    @contextmanager
    def stuck(self, name: str) -> Iterator[None]:
        """SIGSTOP: it holds its connections and takes new ones, and answers nobody."""
        process = self._process(name)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process.pid, signal.SIGCONT)

    def wait_back(self, name: str, killed: int) -> None:
        """Returns when another process has taken the place of `killed`, and is ready."""
        until(f"{name} is back", lambda: self._process(name).up and self._process(name).pid != killed)

    def _process(self, name: str) -> Process:
        return self._supervisor.process(name)
