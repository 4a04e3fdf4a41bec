"""Cuts what one process says to another one's port, or hears from it. Needs root, nftables and cgroups of version 2.

nft(8) finds a control group under /sys/fs/cgroup. Where version 2 is mounted elsewhere, it gets a view of its own.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from sluice_kit.machine.debian import command

TABLE = "sluice_faults"
BOUND = """mount --bind {root} /sys/fs/cgroup; exec "$@" """


class Cut(Enum):
    """REQUESTS: the server receives nothing from the client. ANSWERS: the client receives nothing from the server."""

    REQUESTS = ("output", "dport")
    ANSWERS = ("input", "sport")


@contextmanager
def cut(pid: int, port: int, *ways: Cut) -> Iterator[None]:
    """Packets between a process (not its children) and a port of this machine are dropped in silence."""
    if (root := _version_2()) is None:
        raise FileNotFoundError("cut a connection: this machine has no cgroups of version 2")
    group = root / f"sluice-{pid}"
    group.mkdir(exist_ok=True)
    table = f"{TABLE}_{pid}_{port}"
    try:
        _put(pid, group)
        rules = [_rules(table, group.name, port, way) for way in ways]
        _nft(root, "\n".join([f"add table inet {table}", *rules]))
        yield
    finally:
        _nft(root, f"delete table inet {table}")
        if Path(f"/proc/{pid}").exists():
            _put(pid, root)
        group.rmdir()


def _rules(table: str, group: str, port: int, way: Cut) -> str:
    hook, side = way.value
    return (
        f"add chain inet {table} {hook} {{ type filter hook {hook} priority 0; }}\n"
        f'add rule inet {table} {hook} socket cgroupv2 level 1 "{group}" tcp {side} {port} drop'
    )


def _version_2() -> Path | None:
    for root in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (root / "cgroup.controllers").exists():
            return root
    return None


def _put(pid: int, group: Path) -> None:
    (group / "cgroup.procs").write_text(str(pid))


def _nft(root: Path, rules: str) -> None:
    own_view = ["unshare", "--mount", "sh", "-ec", BOUND.format(root=root), "nft"]
    subprocess.run([*own_view, *command("nft"), "-f", "-"], input=rules, text=True, check=True, env=dict(os.environ))


def possible() -> bool:
    """Whether this machine and user can do that; nft(8) is fetched at the first cut."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and _version_2() is not None
