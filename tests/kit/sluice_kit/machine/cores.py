"""Which cores a process may use."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def split() -> tuple[int, set[int]]:
    """One core for what is measured, and the others for what measures. ValueError: there is only one."""
    first, *others = sorted(os.sched_getaffinity(0))
    if not others:
        raise ValueError("one core for an application and one for its load are needed; this process may use one only")
    return first, set(others)


def pinned(cores: Iterable[int], command: Sequence[str | Path]) -> list[str]:
    """The command that runs `command`, and all that it starts, on `cores` only, in a session of its own.

    Linux shares time out among sessions first (autogroups, sched(7)), and a session's share among its threads wherever
    they run: users in the session of an application with 100 busy threads got next to nothing of their own core.
    """
    return ["setsid", "taskset", "-c", ",".join(map(str, sorted(cores))), *map(str, command)]


@contextmanager
def confined(pids: Iterable[int], cores: set[int]) -> Iterator[None]:
    """Keeps running processes on `cores` for the length of the block; threads begun in it stay with their parent's."""
    before = {pid: os.sched_getaffinity(pid) for pid in pids if Path(f"/proc/{pid}").exists()}
    try:
        for pid in before:
            _confine(pid, cores)
        yield
    finally:
        for pid, old in before.items():
            _confine(pid, old)


def _confine(pid: int, cores: set[int]) -> None:
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:  # it has ended
            continue
