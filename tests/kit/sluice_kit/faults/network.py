"""Cuts what one process says to another one's port, or hears from it. Needs root, nftables and cgroups of version 2.

nft(8) finds a control group under /sys/fs/cgroup. Where version 2 is mounted elsewhere, it gets a view of its own.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
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
        ports = connected(pid, port)
        rules = [_rules(table, group.name, ports, port, way) for way in ways]
        _nft(root, "\n".join([f"add table inet {table}", *rules]))
        yield
    finally:
        _nft(root, f"delete table inet {table}")
        if Path(f"/proc/{pid}").exists():
            _put(pid, root)
        group.rmdir()


def _rules(table: str, group: str, ports: Sequence[int], port: int, way: Cut) -> str:
    """ports: of the connections that are there: they keep the group in which they were made (cgroups(7))."""
    hook, side = way.value
    chain = f"inet {table} {hook}"
    lines = [
        f"add chain {chain} {{ type filter hook {hook} priority 0; }}",
        f'add rule {chain} socket cgroupv2 level 1 "{group}" tcp {side} {port} drop',
    ]
    other = {"dport": "sport", "sport": "dport"}[side]
    lines += [f"add rule {chain} tcp {side} {port} tcp {other} {one} drop" for one in ports]
    return "\n".join(lines)


def connected(pid: int, port: int) -> list[int]:
    """Local ports of a process's connections to a port."""
    own = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, remote, *_, inode = line.split()[:10]
            if f"socket:[{inode}]" in own and _port(remote) == port:
                found.append(_port(local))
    return found


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


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
