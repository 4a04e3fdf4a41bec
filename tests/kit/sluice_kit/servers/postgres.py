"""A PostgreSQL server of its own for tests, on a free port of the loopback interface."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from stack.installs import POSTGRES

NOBODY = 65534
"""PostgreSQL refuses to run as root; it then runs as this user and group."""
USER = "sluice"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    # What is measured must not depend on the disk; nothing here has to survive a crash.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


@contextmanager
def postgres(cores: Iterable[int], log: Path) -> Iterator[str]:
    """Runs a server with an empty database on `cores` only; gives the JDBC URL."""
    with tempfile.TemporaryDirectory(prefix="sluice-postgres-") as directory:
        (port,) = free_ports(1)
        command = [*cluster(Path(directory)), "-p", str(port)]
        command += [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with running("PostgreSQL", pinned(cores, command), lambda: _listens(port), log, limit_s=60):
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user={USER}"


def cluster(folder: Path) -> list[str]:
    """Makes an empty database in a folder; the command that runs it, as a user that may."""
    if not (POSTGRES / "bin/postgres").exists():
        raise FileNotFoundError(f"start PostgreSQL: {POSTGRES} is missing; `make test` sets it up")
    home, prefix = _home(folder)
    data = folder / "data"
    initdb = [home / "bin/initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run([*prefix, *map(str, initdb)], check=True, stdout=subprocess.DEVNULL, timeout=120, cwd=folder)
    return [*prefix, str(home / "bin/postgres"), "-D", str(data)]


def _home(folder: Path) -> tuple[Path, list[str]]:
    """Where the binaries are, and what goes before a command. As root: a copy that another user can reach."""
    if os.geteuid() != 0:
        return POSTGRES, []
    home = folder / "home"
    shutil.copytree(POSTGRES, home, symlinks=True)
    folder.chmod(0o755)
    (folder / "data").mkdir(mode=0o700)
    os.chown(folder / "data", NOBODY, NOBODY)
    return home, ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
