"""Which process holds a port: read from /proc/net/tcp, so that a taken port is named before anything starts."""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LISTEN = "0A"


@dataclass(frozen=True)
class Taken:
    """A port of the stack that something else listens on; pid is None when it may not be seen."""

    name: str
    port: int
    pid: int | None
    command: str

    def __str__(self) -> str:
        owner = f"process {self.pid} ({self.command})" if self.pid else "a process of another user"
        return f"{self.name} {self.port} is taken by {owner}"


def listeners(table: str) -> dict[int, str]:
    """Port -> socket inode, of the listening sockets in the text of /proc/net/tcp or tcp6 (proc_net_tcp(5))."""
    found = {}
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and fields[3] == LISTEN:
            found[int(fields[1].rpartition(":")[2], 16)] = fields[9]
    return found


def owners(inodes: Iterable[str], proc: Path = Path("/proc")) -> dict[str, int]:
    """Socket inode -> pid, as far as this user may see."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    found: dict[str, int] = {}
    for process in proc.glob("[0-9]*"):
        try:
            for descriptor in (process / "fd").iterdir():
                if (target := os.readlink(descriptor)) in wanted:
                    found[wanted[target]] = int(process.name)
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "gone"
    return " ".join(word.decode(errors="replace") for word in words if word)[:100]


def taken(ports: Mapping[str, int], host: str, proc: Path = Path("/proc")) -> list[Taken]:
    """The ports that cannot be bound on `host`, each with its owner."""
    busy = {name: port for name, port in ports.items() if not _can_bind(host, port)}
    if not busy:
        return []
    inodes: dict[int, str] = {}
    for table in ("net/tcp", "net/tcp6"):
        if (proc / table).exists():
            inodes |= listeners((proc / table).read_text())
    pids = owners([inodes[port] for port in busy.values() if port in inodes], proc)
    result = []
    for name, port in busy.items():
        pid = pids.get(inodes.get(port, ""))
        result.append(Taken(name, port, pid, command_of(pid) if pid else ""))
    return result


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
