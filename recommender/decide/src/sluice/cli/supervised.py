"""The processes of a local stack on this host, or those of a container, from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Marks each process of a local stack with the stack's state directory (deploy/local/stack/environment.py).
SUPERVISED = "SLUICE_SUPERVISED"
#: supervisord names its children so.
_NAME = "SUPERVISOR_PROCESS_NAME"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, eq=False)
class LocalProcess:
    """age_s: seconds since its start. words: of the command line. folder: where it runs. suspended: by SIGSTOP or a
    debugger (state T or t of proc_pid_stat(5))."""

    pid: int
    parent: int
    age_s: float
    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    suspended: bool


def of_stack(state: str, proc: Path = Path("/proc")) -> list[LocalProcess]:
    """Those of the local stack at `state`, ordered by pid; where it is empty, those of no local stack, as in a
    container. Processes of other users are left out."""
    found = [process for path in proc.glob("[0-9]*") if (process := _read(path)) is not None]
    found = [process for process in found if process.environment.get(SUPERVISED, "") == state]
    return sorted(found, key=lambda process: process.pid)


def name_of(process: LocalProcess) -> str:
    """Its name in the stack, else its program."""
    return process.environment.get(_NAME) or process.words[0]


def _read(path: Path) -> LocalProcess | None:
    try:
        words = tuple(os.fsdecode(word) for word in (path / "cmdline").read_bytes().split(b"\0")[:-1])
        pairs = (os.fsdecode(pair).partition("=") for pair in (path / "environ").read_bytes().split(b"\0"))
        # From the third field on: the command's name, before it, may have spaces.
        facts = (path / "stat").read_text().rpartition(")")[2].split()
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(facts[19]) / _TICKS
        environment = {name: value for name, _, value in pairs if name}
        folder = (path / "cwd").resolve()
        return LocalProcess(int(path.name), int(facts[1]), age_s, words, environment, folder, facts[0] in "Tt")
    except (OSError, ValueError, IndexError):
        return None
