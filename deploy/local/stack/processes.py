"""Finds and stops the processes of one stack by process id, also those whose supervisor has ended.

Each carries the stack's state directory in its environment (SLUICE_SUPERVISED), which children inherit.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from stack.environment import SUPERVISED


def of_stack(state: Path, proc: Path = Path("/proc")) -> dict[int, str]:
    """pid -> command line of every process of the stack at `state`, except this one."""
    mark = f"{SUPERVISED}={state}".encode()
    commands = {}
    for process in proc.glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if words:  # a zombie has no command line and nothing left to stop
                    commands[int(process.name)] = words
        except OSError:
            continue
    return commands


def stop(find: Callable[[], Iterable[int]], grace_s: float) -> list[int]:
    """SIGTERM to the pids of `find`, SIGKILL after `grace_s`; returns the pids that it killed.

    It calls `find` again each time, and so also stops what a process forks meanwhile.
    """
    signal_all(find(), signal.SIGTERM)
    if wait_gone(find, grace_s):
        return []
    killed = list(find())
    signal_all(killed, signal.SIGKILL)
    wait_gone(find, 5.0)
    return killed


def wait_gone(find: Callable[[], Iterable[int]], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while list(find()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
