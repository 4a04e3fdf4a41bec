"""Threads of a local stack that wait for a disk: it is frozen, has failed, or is far slower than what is written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.environment import Addresses
from sluice.cli.supervised import name_of, of_stack

LONG_S = 2.0
"""A disk that syncs within 1 s is slow, and works."""
Waits = Mapping[tuple[str, int], int]
"""By name of the process and thread: how often the thread left its core so far."""


def disk_waits(where: Addresses, timeout_s: float) -> Diagnosis:
    """Looks again after 2 s where a thread waits: only one that has not run since then is named."""
    state = os.environ.get("SLUICE_STATE", "")
    return judge_waits(lambda: waits(state)) if state else Diagnosis("ok", "no stack has its state on this host")


def judge_waits(look: Callable[[], Waits], sleep: Callable[[float], None] = time.sleep) -> Diagnosis:
    before = look()
    if before:
        sleep(LONG_S)
    now = look() if before else {}
    names = sorted({name for (name, thread), ran in now.items() if before.get((name, thread)) == ran})
    if not names:
        return Diagnosis("ok", "no thread waits for one")
    remedy = "look at the disk of its data (dmesg, iostat -x 1); what waits goes on by itself"
    # A disk that is only busy looks the same for as long.
    return Diagnosis("warn", f"have waited for a disk for {LONG_S:.0f} s: {', '.join(names)}", remedy)


def waits(state: str, proc: Path = Path("/proc")) -> Waits:
    """Of threads in state D (proc_pid_stat(5))."""
    found: dict[tuple[str, int], int] = {}
    for process in of_stack(state, proc):
        for thread in (proc / str(process.pid) / "task").glob("*"):
            try:
                if (thread / "stat").read_text().rpartition(")")[2].split()[0] == "D":
                    found[f"{name_of(process)} ({process.pid})", int(thread.name)] = _switches(thread)
            except (OSError, IndexError):
                continue  # it has ended
    return found


def _switches(thread: Path) -> int:
    lines = (thread / "status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
