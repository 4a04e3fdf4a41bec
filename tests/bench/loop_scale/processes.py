"""What the processes of a decider take: this one, the server that others are forked from, and those that decide."""

import os
import time
from multiprocessing import forkserver
from pathlib import Path

from sluice.pools.period.spread import Spread


def forget_peak() -> None:
    """From here on `memory_mb` counts."""
    Path("/proc/self/clear_refs").write_text("5")


def memory_mb(spread: Spread) -> list[float]:
    """Of this process at most, and of the others now: what each has to itself, and its part of what it shares."""
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1000
    return [peak, *(_proportional_mb(pid) for pid in (server, *spread.pids) if pid is not None)]


def resident_bytes() -> int:
    """Of this process, now."""
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) * 1024


def cpu_s(spread: Spread) -> tuple[float, float]:
    """So far, of this process and of those that decide for it."""
    return time.process_time(), sum(_cpu_s(pid) for pid in spread.pids)


def _proportional_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("Pss:")[1].split()[0]) / 1000


def _cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
