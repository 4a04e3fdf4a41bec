"""Which process holds a port: read from /proc/net/tcp, so that a taken port is named before anything starts."""

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LISTEN, TIME_WAIT = "0A", "06"
# The kernel keeps the client's port of a connection that ended for 60 s: nothing can listen on it then.
ENDED_S = 75


@dataclass(frozen=True)
class Taken:
    """A port of the stack that cannot be bound; pid is None when its owner may not be seen, or is none. `state` is that
    of the socket that has it (proc_net_tcp(5)): something listens, or a connection goes out from it."""

    name: str
    port: int
    pid: int | None
    command: str
    state: str = LISTEN

    @property
    def ended(self) -> bool:
        """Free within a minute, whatever anybody does."""
        return self.state == TIME_WAIT

    def __str__(self) -> str:
        owner = f"process {self.pid} ({self.command})" if self.pid else "a process of another user"
        if self.state != LISTEN:
            owner = "a connection that ended" if self.ended else f"a connection of {owner}"
        return f"{self.name} {self.port} is taken by {owner}"


def sockets(*tables: str) -> dict[int, tuple[str, str]]:
    """Port -> state and inode of the socket that has it, in the texts of /proc/net/tcp and tcp6 (proc_net_tcp(5)). Of
    several, what listens, then what is open."""
    found: dict[int, tuple[str, str]] = {}
    for line in (line for table in tables for line in table.splitlines()[1:]):
        fields = line.split()
        if len(fields) > 9:
            port, state = int(fields[1].rpartition(":")[2], 16), fields[3]
            if port not in found or _rank(state) < _rank(found[port][0]):
                found[port] = state, fields[9]
    return found


def _rank(state: str) -> int:
    return {LISTEN: 0, TIME_WAIT: 2}.get(state, 1)


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
    tables = (proc / "net/tcp", proc / "net/tcp6")
    held = sockets(*(table.read_text() for table in tables if table.exists()))
    pids = owners([held[port][1] for port in busy.values() if port in held], proc)
    result = []
    for name, port in busy.items():
        state, inode = held.get(port, (LISTEN, ""))
        pid = pids.get(inode)
        result.append(Taken(name, port, pid, command_of(pid) if pid else "", state))
    return result


def taken_for_long(
    ask: Callable[[], list[Taken]], waits: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
) -> list[Taken]:
    """What `ask` finds once the ports of connections that ended are free; `waits` is told, once, what is waited for."""
    found, told = ask(), False
    for _ in range(ENDED_S):
        if not found or not all(each.ended for each in found):
            break
        if not told:
            waits("; ".join(map(str, found)))
        told = True
        sleep(1.0)
        found = ask()
    return found


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
