"""CPUs and memory of control groups, as both versions show them."""

import os
from pathlib import Path

import pytest

from sluice.engine.cpus import cpus, memory_bytes
from sluice.pools.period.spread import PROCESS_BYTES, fitting

HERE = len(os.sched_getaffinity(0))
GIB = 2**30


def files(folder: Path, **contents: str) -> None:
    """`a__b` stands for a/b, and `_dot_` for a dot."""
    for name, text in contents.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 64 CPUs."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("200000 100000", 2), ("350000 100000", 3), ("50000 100000", 1), ("max 100000", 64), ("9000000 100000", 64)],
)
def test_version_2(many: None, tmp_path: Path, quota: str, expected: int) -> None:
    files(tmp_path, proc="0::/", mnt__cpu_dot_max=quota)
    assert cpus(tmp_path / "proc", tmp_path / "mnt") == expected


def test_the_lowest_quota_of_the_groups_above_counts(many: None, tmp_path: Path) -> None:
    files(tmp_path, proc="0::/pods/pod1/decider", mnt__pods__cpu_dot_max="800000 100000")
    files(tmp_path, mnt__pods__pod1__cpu_dot_max="300000 100000", mnt__pods__pod1__decider__cpu_dot_max="max 100000")
    assert cpus(tmp_path / "proc", tmp_path / "mnt") == 3


def test_version_1(many: None, tmp_path: Path) -> None:
    groups = "12:pids:/x\n4:cpu,cpuacct:/pods/abc\n3:memory:/pods/abc\n1:name=systemd:/pods/abc"
    quota = {"quota_us": "250000", "period_us": "100000"}
    # The container sees its own group at the mount, whatever path /proc shows.
    files(tmp_path, proc=groups, **{f"mnt__cpu,cpuacct__cpu_dot_cfs_{name}": text for name, text in quota.items()})
    files(tmp_path, mnt__memory__memory_dot_limit_in_bytes=str(GIB))
    assert cpus(tmp_path / "proc", tmp_path / "mnt") == 2
    assert memory_bytes(tmp_path / "proc", tmp_path / "mnt") == GIB
    # Mounted under the controller's own name; no limit.
    (tmp_path / "mnt/cpu,cpuacct").rename(tmp_path / "mnt/cpu")
    files(tmp_path, mnt__cpu__cpu_dot_cfs_quota_us="-1")
    assert cpus(tmp_path / "proc", tmp_path / "mnt") == 64


def test_memory_of_version_2(tmp_path: Path) -> None:
    files(tmp_path, proc="0::/pod/decider", mnt__pod__memory_dot_max=str(GIB), mnt__pod__decider__memory_dot_max="max")
    assert memory_bytes(tmp_path / "proc", tmp_path / "mnt") == GIB


def test_without_groups_the_machine_counts(tmp_path: Path) -> None:
    assert cpus(tmp_path / "proc", tmp_path / "mnt") == HERE
    assert memory_bytes(tmp_path / "proc", tmp_path / "mnt") == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 1 <= cpus() <= HERE


def test_processes_fit_into_the_memory() -> None:
    """The main process and each further one take PROCESS_BYTES: 3 times that are for two further ones."""
    assert fitting(8, 3 * PROCESS_BYTES) == 2
    assert fitting(8, 3 * PROCESS_BYTES - 1) == 1
    assert fitting(8, GIB // 4) == 1
    assert fitting(2, 100 * GIB) == 2
