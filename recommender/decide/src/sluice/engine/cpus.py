"""CPUs and memory that this process may use: of the machine, less the limits of its control groups (v1 and v2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

PROC, MOUNT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def cpus(proc: Path = PROC, mount: Path = MOUNT) -> int:
    """Whole CPUs, at least 1. A part of one is left for the loop: as many processes as the rounded-up number would
    stand still at the end of each scheduling interval, the loop with them."""
    quotas = [quota for folder in _folders(proc, mount, "cpu") if (quota := _quota(folder)) is not None]
    return max(1, int(min([float(len(os.sched_getaffinity(0))), *quotas])))


def memory_bytes(proc: Path = PROC, mount: Path = MOUNT) -> int:
    """The lowest limit, at most the machine's memory."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for folder in _folders(proc, mount, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            if (text := _text(folder / name)).isdigit():
                limits.append(int(text))
    return min(limits)


def _folders(proc: Path, mount: Path, controller: str) -> Iterator[Path]:
    """Folders with limits of the process, from its own group to the root. Within a container, /proc may show a path of
    the host that the mount does not have: then the mount is the container's own group."""
    for line in _text(proc).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = mount / controllers if controllers else mount
        if controllers and not root.exists():
            root = mount / controller
        own = root / path.lstrip("/")
        yield from (folder for folder in (own, *own.parents) if folder == root or root in folder.parents)


def _quota(folder: Path) -> float | None:
    """CPUs; None without a limit."""
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
    if not quota.isdigit() or not period.isdigit() or not int(period):
        return None  # "max", or -1
    return int(quota) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
