"""The deciders and actuators that run on this host, or in this container, from /proc."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

# Marks each process of a local stack with the stack's state directory (deploy/local/stack/environment.py).
SUPERVISED = "SLUICE_SUPERVISED"
# With these an actuator reads its file and ends.
_SINGLE = {"--check", "--once", "--dry-run", "--restore"}


@dataclass(frozen=True, eq=False)
class Program:
    """kind: decider or actuator. words: of the command line. folder: where it runs, to which its file is relative."""

    kind: str
    pid: int
    parent: int
    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path

    def __str__(self) -> str:
        return f"{self.kind} (pid {self.pid})"

    @property
    def file(self) -> Path:
        return self.folder / _config(self.words)


def running(state: str, proc: Path = Path("/proc")) -> list[Program]:
    """Those of the local stack at `state`; where it is empty, those of no local stack, as in a container. Processes of
    other users are left out."""
    found = [program for path in proc.glob("[0-9]*") if (program := _read(path)) is not None]
    found = [program for program in found if program.environment.get(SUPERVISED, "") == state]
    # A decider's own processes can have its command line.
    pids = {program.pid for program in found}
    return sorted((program for program in found if program.parent not in pids), key=lambda program: program.pid)


def _read(path: Path) -> Program | None:
    try:
        words = tuple(os.fsdecode(word) for word in (path / "cmdline").read_bytes().split(b"\0")[:-1])
        if not (kind := _kind(words)):
            return None
        pairs = (os.fsdecode(pair).partition("=") for pair in (path / "environ").read_bytes().split(b"\0"))
        parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        environment = {name: value for name, _, value in pairs if name}
        return Program(kind, int(path.name), parent, words, environment, (path / "cwd").resolve())
    except (OSError, ValueError):
        return None


def _kind(words: Sequence[str]) -> str:
    """ "" for another program, and for one that only reads a file and ends."""
    if not _config(words) or _SINGLE & set(words):
        return ""
    if ("-m", "sluice.decider") in pairwise(words):
        return "decider"
    return "actuator" if Path(words[0]).name == "sluice-actuator" and "tune" not in words[1:2] else ""


def _config(words: Sequence[str]) -> str:
    """The value of --config; "" without one."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in ("--config", "-config"):
            return value if equals else after
    return ""
