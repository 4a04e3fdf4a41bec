"""Starts a server process, waits until it answers, and stops it."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

ANSWER_S = 5.0


class StartError(RuntimeError):
    """A server that did not come up; the message ends with the tail of its log."""


@contextmanager
def running(
    name: str,
    command: Sequence[str | Path],
    ready: Callable[[], bool],
    log: Path,
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    stop_s: float = 20.0,
    poll_s: float = 0.05,
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs `command` until the block ends; enters it once `ready` is true, asked every `poll_s` s, within `limit_s` s.

    The process is terminated, and killed if it takes longer than `stop_s` seconds to end.
    """
    with log.open("wb") as out:
        process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out, env=environment)
        try:
            _wait(name, process, ready, log, limit_s, poll_s)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(stop_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(
    name: str, process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path, limit_s: float, poll_s: float
) -> None:
    deadline = time.monotonic() + limit_s
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            why = (
                f"exited with {process.returncode}"
                if process.returncode is not None
                else f"not ready after {limit_s:g} s"
            )
            raise StartError(f"start {name}: {why}\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(poll_s)


def answers(url: str, status: int | None = None) -> Callable[[], bool]:
    """A condition for `running`: GET `url` succeeds, or has this status."""

    def ready() -> bool:
        try:
            answer = requests.get(url, timeout=ANSWER_S)
        except requests.RequestException:
            return False
        return answer.ok if status is None else answer.status_code == status

    return ready
