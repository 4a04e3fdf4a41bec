"""Pools at the addresses where a test's Kubernetes says that pods are, behind the handler of Python programs."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sluice_kit.machine.ports import free_ports
from stack.installs import ACTUATORS

sys.path.append(str(ACTUATORS / "handlers/python"))

from sluice_pools import serve

TOKEN = "0123456789abcdef0123"
#: KWOK gives pods addresses in turn.
ADDRESSES = [f"127.0.1.{n}" for n in range(1, 61)]
FIRST = 64


class Pool:
    """Connections of one pod; `history` is what it was resized to."""

    def __init__(self) -> None:
        self.size = FIRST
        self.history: list[int] = []

    def resize(self, limit: int) -> None:
        self.size = limit
        self.history.append(limit)

    def sizes(self) -> tuple[int, int]:
        return self.size, 0


@contextmanager
def pools(folder: Path) -> Iterator[tuple[int, Path, dict[str, Pool]]]:
    """Their port, the file of their token, and each by its address."""
    token = folder / "token"
    token.write_text(TOKEN)
    (port,) = free_ports(1)
    there = {address: Pool() for address in ADDRESSES}
    with ExitStack() as up:
        for address, pool in there.items():
            server = serve(address, port, str(token), {"rows": pool})
            up.callback(server.server_close)
            up.callback(server.shutdown)
        yield port, token, there
