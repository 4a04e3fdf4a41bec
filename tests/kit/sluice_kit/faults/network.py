"""Cuts, ends or slows the connections of a process to a port. Needs root, nftables and cgroups of version 2.

nft(8) finds a control group under /sys/fs/cgroup. Where version 2 is mounted elsewhere, it gets a view of its own.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import partial
from pathlib import Path

from sluice_kit.faults.slow import slow_way
from sluice_kit.machine.debian import command

TABLE = "sluice_faults"
#: It answers no reset with another.
RESET = "tcp flags & rst == 0 reject with tcp reset"
BOUND = """mount --bind {root} /sys/fs/cgroup; exec "$@" """


class Cut(Enum):
    """REQUESTS: the server receives nothing from the client. ANSWERS: the client receives nothing from the server."""

    REQUESTS = ("output", "dport")
    ANSWERS = ("input", "sport")


@contextmanager
def cut(pid: int, port: int, *ways: Cut) -> Iterator[None]:
    """Packets between a process (not its children) and a port of this machine are dropped in silence."""
    with _ruled(pid, port, *(partial(_refused, port=port, way=way, verdict="drop") for way in ways)):
        yield


@contextmanager
def reset(pid: int, port: int) -> Iterator[None]:
    """The connections of a process to a port of this machine end with a reset, and new ones are refused."""
    with _ruled(pid, port, *(partial(_refused, port=port, way=way, verdict=RESET) for way in Cut)):
        yield


@contextmanager
def slow(pid: int, port: int, delay_s: float) -> Iterator[None]:
    """What a process and a port of this machine send each other takes `delay_s` longer. Connections that are there end
    with a reset: new ones are slow."""
    ended = (partial(_refused, port=port, way=way, verdict=RESET, new=False) for way in Cut)
    with slow_way(port, delay_s) as way, _ruled(pid, port, partial(_led, port=port, way=way), *ended):
        yield


@contextmanager
def _ruled(pid: int, port: int, *rules: Callable[[str, str, list[int]], list[str]]) -> Iterator[None]:
    """rules: lines of nft(8), given the name of their table, the control group in which the process is, and the local
    ports of the connections that are there: these keep the group in which they were made (cgroups(7))."""
    if (root := _version_2()) is None:
        raise FileNotFoundError("rules for a process's packets: this machine has no cgroups of version 2")
    group = root / f"sluice-{pid}"
    table = f"{TABLE}_{pid}_{port}"
    group.mkdir(exist_ok=True)
    try:
        _put(pid, group)
        ports = connected(pid, port)
        lines = [line for rule in rules for line in rule(table, group.name, ports)]
        _nft(root, "\n".join([f"add table inet {table}", *lines]))
        yield
    finally:
        _nft(root, f"delete table inet {table}")
        if Path(f"/proc/{pid}").exists():
            _put(pid, root)
        with suppress(FileNotFoundError):  # another of its connections was in the same group
            group.rmdir()


def _refused(
    table: str, group: str, ports: Sequence[int], *, port: int, way: Cut, verdict: str, new: bool = True
) -> list[str]:
    """new: of connections made from now on, too."""
    hook, side = way.value
    chain = f"inet {table} {hook}"
    other = {"dport": "sport", "sport": "dport"}[side]
    return [
        f"add chain {chain} {{ type filter hook {hook} priority 0; }}",
        *([f'add rule {chain} socket cgroupv2 level 1 "{group}" tcp {side} {port} {verdict}'] if new else []),
        *(f"add rule {chain} tcp {side} {port} tcp {other} {one} {verdict}" for one in ports),
    ]


def _led(table: str, group: str, ports: Sequence[int], *, port: int, way: int) -> list[str]:
    """New connections go to the port `way`."""
    chain = f"inet {table} way"
    return [
        f"add chain {chain} {{ type nat hook output priority -100; }}",
        f'add rule {chain} socket cgroupv2 level 1 "{group}" tcp dport {port} redirect to :{way}',
    ]


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
