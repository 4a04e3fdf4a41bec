"""The machine, and the needs of set-up and stack."""

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from stack.settings import REPOSITORY

DISK_BYTES = 6 * 10**9  # of the repository after `make up`
MEMORY_BYTES = 3 * 2**30  # of the stack with its demo
CORES = 2


@dataclass(frozen=True)
class Machine:
    """Sizes in bytes; memory and disk are what is free. libc by name, "" where Python does not know it."""

    system: str
    architecture: str
    libc: str
    cores: int
    memory: int
    disk: int


def here() -> Machine:
    return Machine(
        system=platform.system(),
        architecture=platform.machine(),
        libc=platform.libc_ver()[0],
        cores=os.cpu_count() or 1,
        memory=available_memory(Path("/proc/meminfo")),
        disk=shutil.disk_usage(REPOSITORY).free,
    )


def available_memory(meminfo: Path) -> int:
    """MemAvailable of proc_meminfo(5) in bytes; 0 where the file does not have it."""
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def unfit(machine: Machine, *, installing: bool) -> list[str]:
    """Why nothing can run on `machine`, or be installed on it; only another machine mends that."""
    reasons = []
    if machine.system != "Linux" or machine.architecture != "x86_64":
        reasons.append(f"Linux on x86_64 is needed, not {machine.system} on {machine.architecture}")
    elif machine.libc != "glibc":
        reasons.append(f"the C library must be glibc, as in Debian and Ubuntu, not {machine.libc or 'another one'}")
    if installing and machine.disk < DISK_BYTES:
        reasons.append(f"{REPOSITORY} has {gigabytes(machine.disk)} of disk free, {gigabytes(DISK_BYTES)} are needed")
    return reasons


def scarce(machine: Machine) -> list[str]:
    """What makes the stack slow, or the kernel kill a part of it."""
    warnings = []
    if machine.cores < CORES:
        warnings.append(f"{machine.cores} core: everything takes more than twice as long as on {CORES}")
    if 0 < machine.memory < MEMORY_BYTES:
        warnings.append(f"{gigabytes(machine.memory)} of memory are free, the stack uses {gigabytes(MEMORY_BYTES)}")
    return warnings


def gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
