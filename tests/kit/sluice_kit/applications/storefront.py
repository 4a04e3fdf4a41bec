"""The application of tests/testbed/storefront: its programs on one core, what makes spans of nginx's log on the others.

Each program has a folder with its configuration, and `restart.sh` begins it anew: what an actuator runs after it wrote
there.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from sluice_kit.applications.tomcat import application
from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.machine import debian
from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.postgres import USER, cluster
from stack.layout import BIN

HERE = REPOSITORY / "tests/testbed/storefront"
RESTART = HERE / "restart.sh"
BINARY = BIN / "storefront"
TOMCAT_THREADS, HIKARI_CONNECTIONS = 200, 10
"""The defaults of Tomcat and HikariCP."""
NAMES = ("nginx", "memcached", "redis", "postgresql", "storefront")


class _Lines(Template):
    """nginx's own variables begin with a dollar."""

    delimiter = "@"


@dataclass(frozen=True)
class Storefront:
    """folder: has a folder for each program, with `conf`. page: what users ask for. settings: of the Go program.
    jolokia: of orders; "" where that is another's. behind_nginx: the same page without nginx. redis: HOST:PORT."""

    folder: Path
    page: str
    settings: str
    jolokia: str
    behind_nginx: str = ""
    redis: str = ""

    def conf(self, program: str) -> Path:
        return self.folder / program / "conf"

    def restart(self, program: str) -> list[str]:
        return [str(RESTART), str(self.folder / program)]


@contextmanager
def storefront(
    cores: set[int], others: Iterable[int], otlp: str, logs: Path, orders_at: str = ""
) -> Iterator[Storefront]:
    """All of it, up, on `cores`; spans go to `otlp` (gRPC) from `others`, where nginx's log is read. orders_at: URL of
    the service of orders, in place of the Tomcat."""
    if not BINARY.exists():
        raise FileNotFoundError(f"start the storefront: {BINARY} is missing; `make bench` sets it up")
    with tempfile.TemporaryDirectory(prefix="sluice-storefront-") as directory, ExitStack() as up:
        folder = Path(directory)
        folder.chmod(0o755)  # the servers may run as another user
        port = dict(zip((*NAMES, "log"), free_ports(len(NAMES) + 1), strict=True))
        for name in NAMES:
            made(folder / name, port)
        up.callback(_kept, folder, logs)

        def begin(name: str, words: Sequence[object]) -> None:
            up.enter_context(_program(folder / name, words, cores))

        begin("postgresql", [*_postgresql(folder), "-p", port["postgresql"]])
        begin("redis", [*debian.command("redis-server"), folder / "redis/conf"])
        local = ["-u", "nobody", "-l", "127.0.0.1", "-p", port["memcached"]]
        begin("memcached", [*debian.command("memcached"), *local])
        at = {name: f"127.0.0.1:{number}" for name, number in port.items()}
        database = f"{at['postgresql']}/postgres"
        jdbc = f"jdbc:postgresql://{database}?user={USER}"
        jolokia = ""
        if not orders_at:
            log = logs / "tomcat.log"
            tomcat = application(
                "orders", TOMCAT_THREADS, jdbc, cores, log, otlp, spare_threads=None, connections=HIKARI_CONNECTIONS
            )
            orders = up.enter_context(tomcat)
            orders_at, jolokia = f"{orders.url}/update", orders.jolokia
        flags = {
            "listen": at["storefront"],
            "redis": at["redis"],
            "memcached": at["memcached"],
            "postgres": f"postgres://{USER}@{database}?sslmode=disable",
            "orders": orders_at,
            "otlp": otlp,
        }
        begin("storefront", [BINARY, *(word for name, value in flags.items() for word in (f"-{name}", value))])
        up.enter_context(_spans_of_nginx(port["log"], others, otlp, logs))
        home = folder / "nginx"
        begin("nginx", [*debian.command("nginx"), "-p", home, "-c", home / "conf", "-e", "stderr"])
        go, page = f"http://{at['storefront']}", f"http://{at['nginx']}/page"
        yield Storefront(folder, page, f"{go}/settings", jolokia, f"{go}/page", at["redis"])


def _postgresql(folder: Path) -> list[str]:
    home = folder / "postgresql-home"
    home.mkdir()
    return [*cluster(home), "-c", f"config_file={folder}/postgresql/conf"]


@contextmanager
def _spans_of_nginx(port: int, cores: Iterable[int], otlp: str, logs: Path) -> Iterator[None]:
    words = [sys.executable, "-m", "testbed.storefront.access_log", "--port", str(port), "--otlp", otlp]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "tests")}
    with running("access log", pinned(cores, words), lambda: True, logs / "access_log.log", 60, environment):
        yield


def _kept(folder: Path, logs: Path) -> None:
    """What the programs printed outlives them."""
    for log in folder.glob("*/log"):
        shutil.copyfile(log, logs / f"{log.parent.name}.log")


def made(folder: Path, port: Mapping[str, int]) -> None:
    """The folder of the program that it is named after. port: of all, and of nginx's log."""
    folder.mkdir()
    template = HERE / f"conf/{folder.name}.conf"
    if template.exists():
        names = {**port, "port": port[folder.name]}
        (folder / "conf").write_text(_Lines(template.read_text()).substitute(names))
    (folder / "port").write_text(f"{port[folder.name]}\n")
    # Of PostgreSQL: ends its clients, and is no crash.
    (folder / "signal").write_text("INT\n" if folder.name == "postgresql" else "TERM\n")


@contextmanager
def _program(folder: Path, words: Sequence[object], cores: Iterable[int]) -> Iterator[None]:
    """Begins it, and ends what `restart.sh` has begun last."""
    run = folder / "run"
    more = ' $(grep -v "^#" conf)' if folder.name == "memcached" else ""  # its options are its configuration
    command = " ".join(["taskset", "-c", ",".join(map(str, sorted(cores))), *(f"'{word}'" for word in words)])
    run.write_text(f"#!/bin/bash\nexec {command}{more}\n")
    run.chmod(0o755)
    try:
        subprocess.run([RESTART, folder], check=True, timeout=120)
        yield
    finally:
        _end(folder)


def _end(folder: Path, within_s: float = 20.0) -> None:
    pid_file = folder / "pid"
    if not pid_file.exists():
        return
    pid, how = int(pid_file.read_text()), f"SIG{(folder / 'signal').read_text().strip()}"
    deadline = time.monotonic() + within_s
    try:
        os.kill(pid, signal.Signals[how])
        while _runs(pid):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
    except ProcessLookupError:
        pass


def _runs(pid: int) -> bool:
    """Not so: it has ended, and nobody asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
