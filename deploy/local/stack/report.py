"""The output for the user: one line a step with its elapsed time, a live line on a terminal, failures with advice."""

import os
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import TextIO

from stack.steps import Progress, Step, StepError


class Report(Progress):
    """Writes lines to `stream`. On a terminal the last line names the running steps, and is overwritten."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._running: list[str] = []
        self._skipped = 0
        self._shown = ""

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._start

    def line(self, text: str = "") -> None:
        with self._lock:
            self._clear()
            self._write(text + "\n")

    def step(self, mark: str, name: str, text: str) -> None:
        self.line(f"{self.elapsed_s:7.1f} s  {mark:<4} {name:<18} {text}")

    def live(self, text: str) -> None:
        """A line that the next one replaces; nothing when this is not a terminal."""
        if self._live:
            with self._lock:
                self._clear()
                self._shown = f"{self.elapsed_s:7.1f} s  {text}"[:118]
                self._write(self._shown)

    def started(self, step: Step) -> None:
        self._running.append(step.name)
        if not self._live:
            self.step("..", step.name, step.description)
        self.live(f"working on: {', '.join(self._running)}")

    def finished(self, step: Step, seconds: float) -> None:
        self._running.remove(step.name)
        self.step("ok", step.name, f"{step.description} ({seconds:.1f} s)")
        if self._running:
            self.live(f"working on: {', '.join(self._running)}")

    def skipped(self, step: Step) -> None:
        self._skipped += 1

    def failed(self, error: StepError) -> None:
        self.step("!!", "failed", f"{error}; ending what runs")

    def setup_done(self) -> None:
        self.step("ok", "complete", f"{self._skipped} steps were current already")

    def failure(self, error: StepError) -> None:
        """The error, the end of its log, where the log is, and what to do."""
        self.line()
        self.line(f"FAILED after {self.elapsed_s:.0f} s: {error}")
        if error.log and error.log.exists():
            self.line(f"  the last lines of {error.log}:")
            for text in tail(error.log, 15):
                self.line(f"    {text}")
        if error.advice:
            self.line(f"  what to do: {error.advice}")

    def _clear(self) -> None:
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        """A reader that closes the pipe (`| head`) stops nothing."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())


def tail(path: Path, lines: int) -> list[str]:
    with path.open(errors="replace") as stream:
        return list(deque((text.rstrip() for text in stream if text.strip()), maxlen=lines))
