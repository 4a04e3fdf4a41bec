"""The deciders and actuators that run on this host, or in this container."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path

from sluice.cli.supervised import LocalProcess, of_stack

# With these an actuator reads its file and ends.
_SINGLE = {"--check", "--once", "--dry-run", "--restore"}


@dataclass(frozen=True, eq=False)
class Program(LocalProcess):
    """kind: decider or actuator. The name of its file is relative to its folder."""

    kind: str

    def __str__(self) -> str:
        return f"{self.kind} (pid {self.pid})"

    @property
    def file(self) -> Path:
        return self.folder / _config(self.words)


def running(state: str, proc: Path = Path("/proc")) -> list[Program]:
    """Those of the local stack at `state`; where it is empty, those of no local stack."""
    found = [Program(**vars(process), kind=kind) for process in of_stack(state, proc) if (kind := _kind(process.words))]
    # A decider's own processes can have its command line.
    pids = {program.pid for program in found}
    return [program for program in found if program.parent not in pids]


def _kind(words: Sequence[str]) -> str:
    """ "" for another program, and for one that only reads a file and ends."""
    if not _config(words) or _SINGLE & set(words):
        return ""
    if ("-m", "sluice.decider") in pairwise(words):
        return "decider"
    return "actuator" if Path(words[0]).name == "sluice-actuator" and "tune" not in words[1:2] else ""


def _config(words: Sequence[str]) -> str:
    """The value of --config; "" without one. A process that has just begun, or ended, has no words."""
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        if name in ("--config", "-config"):
            return value if equals else after
    return ""
