"""CPU limits of processes of this machine: a control group a service, of version 1."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CPU, ACCOUNTED = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpuacct")
PERIOD_US = 100_000
"""Linux' default of cpu.cfs_period_us."""
ONE_SHARE = 1024
"""Linux' default of cpu.shares, and what a session has."""


@dataclass(frozen=True)
class Group:
    """limits: has cpu.cfs_quota_us. accounts: has cpuacct.usage. Often these are the same folder."""

    limits: Path
    accounts: Path

    @property
    def quota(self) -> Path:
        return self.limits / "cpu.cfs_quota_us"

    def limit(self, cores: float | None) -> None:
        """None: no limit. Worked: 0.4 cores are 40,000 of each 100,000 us."""
        self.quota.write_text("-1" if cores is None else str(round(cores * PERIOD_US)))

    def cores(self) -> float | None:
        """The limit in force; None: there is none."""
        quota = int(self.quota.read_text())
        return None if quota < 0 else quota / PERIOD_US

    def core_seconds(self) -> float:
        """CPU time that its processes have used, those that ended too."""
        return int((self.accounts / "cpuacct.usage").read_text()) / 1e9

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What this process starts in the block is in the group, and stays."""
        before = [_of_self("cpu"), _of_self("cpuacct")]
        _move(self.limits, self.accounts)
        try:
            yield
        finally:
            _move(*before)


@contextmanager
def holding(pids: Iterable[int], shares: int) -> Iterator[None]:
    """Running processes get so many sessions' share of a core for the length of the block, and not one session's."""
    folder = CPU / f"sluice-held-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    (folder / "cpu.shares").write_text(str(ONE_SHARE * shares))
    try:
        _put(pids, folder)
        yield
    finally:
        _put(map(int, (folder / "cgroup.procs").read_text().split()), CPU)
        _removed(folder)


def _put(pids: Iterable[int], folder: Path) -> None:
    for pid in pids:
        try:
            (folder / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:  # it has ended
            continue


@contextmanager
def groups(names: Iterable[str]) -> Iterator[dict[str, Group]]:
    """A new group of each name, removed at the end. FileNotFoundError: this machine has no cgroups of version 1."""
    if not (CPU / "cpu.cfs_quota_us").exists() and not (CPU / "cgroup.procs").exists():
        raise FileNotFoundError(f"limit the CPU of services: {CPU} is missing; cgroups of version 1 are needed")
    parents = [root / f"sluice-{os.getpid()}" for root in (CPU, ACCOUNTED)]
    made = {name: Group(parents[0] / name, parents[1] / name) for name in names}
    try:
        for group in made.values():
            for folder in (group.limits, group.accounts):
                folder.mkdir(parents=True, exist_ok=True)
        # Linux shares a core out among a parent's children first: else all of them together get what one session gets.
        (parents[0] / "cpu.shares").write_text(str(ONE_SHARE * len(made)))
        yield made
    finally:
        for group in made.values():
            for folder in (group.limits, group.accounts):
                _removed(folder)
        for folder in parents:
            _removed(folder)


def _move(*folders: Path) -> None:
    for folder in folders:
        (folder / "cgroup.procs").write_text(str(os.getpid()))


def _of_self(controller: str) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            return Path("/sys/fs/cgroup") / controller / path.lstrip("/")
    raise FileNotFoundError(f"find the control group of this process: no controller {controller}")


def _removed(folder: Path) -> None:
    with suppress(OSError):  # a process is still ending in it: an empty group costs nothing
        folder.rmdir()
