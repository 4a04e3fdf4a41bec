"""Watches the stack of a session beside its tests, and ends the session when the stack stands still, saying where."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from sluice_kit import waiting
from sluice_kit.local_stack.driver import REPOSITORY, Stack
from sluice_kit.watchdog.beats import Stages
from sluice_kit.watchdog.standstill import StandStill

PERIOD_S = 4.0
LOG_LINES = 6
#: Verdicts and their grounds, for the end of the session's output.
reports: list[str] = []


class StackWatch(threading.Thread):
    """Looks at the stack every PERIOD_S until it is stopped; a verdict is raised in the main thread: pytest's exit."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(name="watch", daemon=True)
        self._stack = stack
        self._standstill = StandStill(time.monotonic())
        self._stopping = threading.Event()

    def moved_at(self) -> float:
        return self._standstill.moved_at

    def gave_up(self, still_s: float) -> None:
        self._standstill.in_vain(still_s)

    def run(self) -> None:
        stages = Stages(self._stack)
        while not self._stopping.wait(PERIOD_S):
            self._standstill.look(time.monotonic(), stages.look())
            if (verdict := self._standstill.verdict()) and not self._stopping.is_set():
                reports.append(self._report(verdict))
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
                break
        stages.close()

    def stop(self) -> None:
        self._stopping.set()
        self.join(60)

    def _report(self, verdict: str) -> str:
        """The verdict, each stage since when, what `status` says, and the ends of the processes' logs."""
        lines = [verdict, "", "stage          pulse since", *self._standstill.table(time.monotonic(), time.time()), ""]
        lines += _status(self._stack)
        for log in sorted(Path(self._stack.address["SLUICE_STATE"]).glob("logs/*.log")):
            if last := log.read_text(errors="replace").splitlines()[-LOG_LINES:]:
                lines += ["", f"-- {log.name}", *(line[:300] for line in last)]
        return "\n".join(lines)


def _status(stack: Stack) -> list[str]:
    environment = stack.environment | {"PYTHONPATH": str(REPOSITORY / "deploy/local")}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "stack", "status"], env=environment, capture_output=True, text=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        return ["`make status` does not answer within 60 s"]
    return done.stdout.splitlines()


@contextmanager
def watched(stack: Stack) -> Iterator[None]:
    """Ends the session, by pytest's exit, when the stack stands still within the block; waits in it ask the watch."""

    def end(number: int, frame: FrameType | None) -> None:
        pytest.exit(reports[-1].splitlines()[0], returncode=pytest.ExitCode.INTERRUPTED)

    before = signal.signal(signal.SIGUSR1, end)
    watch = StackWatch(stack)
    watch.start()
    waiting.watch = watch
    try:
        yield
    finally:
        waiting.watch = None
        watch.stop()
        signal.signal(signal.SIGUSR1, before)
