"""Ports that are taken, with their owners by /proc/net/tcp, before anything starts."""

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LISTEN, NO_OWNER = "0A", "0"
# The kernel keeps the client's port of a connection that ended for 60 s: nothing can listen on it then.
ENDED_S = 75
# A process that was killed has no memory any more, and so no name and no owner, and closes its files after that: up to
# a second on a busy machine.
ENDING_S = 10


@dataclass(frozen=True)
class Taken:
    """A port of the stack that cannot be bound, because a process listens on it or has a connection from it.

    ended: the connection has ended, and the kernel frees the port within a minute. pid: None when the owner is not
    seen: another user's process, or one that is ending.
    """

    name: str
    port: int
    pid: int | None
    command: str
    listens: bool = True
    ended: bool = False

    def __str__(self) -> str:
        unseen = "a process of another user, or one that is ending"
        owner = f"process {self.pid} ({self.command})" if self.pid else unseen
        if not self.listens:
            owner = "a connection that ended" if self.ended else f"a connection of {owner}"
        return f"{self.name} {self.port} is taken by {owner}"


def sockets(*tables: str) -> dict[int, tuple[str, str]]:
    """Port -> state and inode of its socket, from the texts of /proc/net/tcp and tcp6 (proc_net_tcp(5)).

    Of several sockets, the one that listens counts, else one that a process has open.
    """
    by_port: dict[int, tuple[str, str]] = {}
    for line in (line for table in tables for line in table.splitlines()[1:]):
        fields = line.split()
        if len(fields) > 9:
            port, entry = int(fields[1].rpartition(":")[2], 16), (fields[3], fields[9])
            by_port[port] = min(by_port.get(port, entry), entry, key=_rank)
    return by_port


def _rank(entry: tuple[str, str]) -> int:
    state, inode = entry
    return 0 if state == LISTEN else 1 if inode != NO_OWNER else 2


def owners(inodes: Iterable[str], proc: Path = Path("/proc")) -> dict[str, int]:
    """Socket inode -> pid, as far as this user may see."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    pids: dict[str, int] = {}
    for process in proc.glob("[0-9]*"):
        try:
            for descriptor in (process / "fd").iterdir():
                if (target := os.readlink(descriptor)) in wanted:
                    pids[wanted[target]] = int(process.name)
        except OSError:
            continue
    return pids


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
        pid, listens = pids.get(inode), state == LISTEN
        command = command_of(pid) if pid else ""
        result.append(Taken(name, port, pid, command, listens, ended=not listens and inode == NO_OWNER))
    return result


def taken_for_long(
    probe: Callable[[], list[Taken]], notify: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
) -> list[Taken]:
    """The result of `probe` once the ports of ended connections are free, and those whose owner is not seen, which it
    waits for ENDING_S; `notify` gets, once, the ports waited for."""
    first = taken = probe()
    for second in range(ENDED_S):
        if not taken or any(not port.ended and (port.pid or second >= ENDING_S) for port in taken):
            break
        if taken is first:
            notify("; ".join(map(str, taken)))
        sleep(1.0)
        taken = probe()
    return taken


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
