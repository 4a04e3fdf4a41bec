"""Kills processes of the stack as a crash would, or stops them, and waits until the supervisor has them back."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from stack.settings import load
from stack.supervisor import Process, Supervisor
from support.stack import Stack


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

    @contextmanager
    def stuck(self, name: str) -> Iterator[None]:
        """SIGSTOP: it holds its connections and takes new ones, and answers nobody."""
        process = self._process(name)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process.pid, signal.SIGCONT)

    def wait_back(self, name: str, killed: int, within_s: float) -> None:
        """Returns when another process has taken the place of `killed`, and is ready."""
        deadline = time.monotonic() + within_s
        while True:
            process = self._process(name)
            if process.up and process.pid != killed:
                return
            assert time.monotonic() < deadline, f"{name} is {process.state}, ready: {process.ready}"
            time.sleep(0.3)

    def _process(self, name: str) -> Process:
        return self._supervisor.process(name)
