"""The kernel kills a process because it has no memory for it (memory.max, or memory.limit_in_bytes of version 1)."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
LEAST_BYTES = 1 << 20
PATIENCE_S = 60.0


def killed_for_memory(pid: int, patience_s: float = PATIENCE_S) -> bool:
    """Returns once the process is gone. It gets a control group that has LEAST_BYTES for what it asks from now on.

    False: it asked for nothing more within `patience_s`, and goes on as before.
    """
    with limited(pid, LEAST_BYTES):
        deadline = time.monotonic() + patience_s
        while _alive(pid):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


@contextmanager
def limited(pid: int, most_bytes: int) -> Iterator[None]:
    """In the block, the process and those that it starts get a control group of their own, and so many bytes for what
    they ask from now on."""
    version_2 = "memory" in _text(ROOT / "cgroup.controllers").split()
    root, limit = (ROOT, "memory.max") if version_2 else (ROOT / "memory", "memory.limit_in_bytes")
    if version_2:
        (root / "cgroup.subtree_control").write_text("+memory")
    group = root / f"sluice-memory-{pid}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / limit).write_text(str(most_bytes))
        yield
    finally:
        _leave(group, root)


def possible() -> bool:
    return os.geteuid() == 0 and (
        "memory" in _text(ROOT / "cgroup.controllers").split() or (ROOT / "memory/memory.limit_in_bytes").exists()
    )


def _alive(pid: int) -> bool:
    """A zombie is not."""
    return _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] not in ([], ["Z"], ["X"])


def _leave(group: Path, root: Path) -> None:
    """The group ends; who is in it still goes back, which takes effect once its threads are out."""
    for pid in _text(group / "cgroup.procs").split():
        (root / "cgroup.procs").write_text(pid)
    for _ in range(100):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.05)
        else:
            return


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
