"""A limit on the CPU of a process that runs, as a container has one: a control group of Linux, version 1 or 2."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
"""The kernel's default, and that of containers."""


class CpuLimit:
    """Of one group; in force as soon as it is set."""

    def __init__(self, group: Path) -> None:
        self._group = group

    def set(self, cores: float | None) -> None:
        """None: no limit. What is running goes on, as far as the new limit lets it."""
        quota = None if cores is None else round(cores * PERIOD_US)
        if (self._group / "cpu.max").exists():
            self._write("cpu.max", f"{'max' if quota is None else quota} {PERIOD_US}")
        else:
            self._write("cpu.cfs_period_us", str(PERIOD_US))
            self._write("cpu.cfs_quota_us", str(-1 if quota is None else quota))

    def _write(self, name: str, text: str) -> None:
        (self._group / name).write_text(text)


@contextmanager
def cpu_limit(pid: int, mount: Path = MOUNT) -> Iterator[CpuLimit]:
    """A group of its own for the process and its threads, without a limit at first, for the length of the block.

    Raises OSError where control groups cannot be made; that takes root.
    """
    parent = mount if (mount / "cgroup.controllers").exists() else mount / "cpu"
    group = parent / f"sluice-{os.getpid()}-{pid}"
    try:
        group.mkdir()
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as cause:
        raise OSError(f"limit the CPU of process {pid}: cannot make the control group {group}: {cause}") from cause
    try:
        yield CpuLimit(group)
    finally:
        with suppress(ProcessLookupError):  # it has ended
            (parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def cpu_seconds(pid: int) -> float:
    """Used by the process so far, all its threads together: user and system time of proc(5), in steps of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
