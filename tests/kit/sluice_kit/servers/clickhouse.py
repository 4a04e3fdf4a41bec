"""A ClickHouse server of its own for tests: the engine that the local stack runs, on free ports."""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

import clickhouse_connect
import requests
from clickhouse_connect.driver.client import Client

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.proxy import proxy

REPOSITORY = Path(__file__).resolve().parents[4]

LOCAL = REPOSITORY / "deploy/local/clickhouse"
LIBRARY = REPOSITORY / ".cache/clickhouse/libchdb.so"
WRITER = "sluice_writer"
PASSWORD = "of-a-test"  # of WRITER; sluice_reader has none


@dataclass(frozen=True)
class ClickHouse:
    """A server that is up. `url` names no user, `writer_url` the one that writes. authority: PEM file, with TLS."""

    url: str
    http_port: int
    native_port: int
    authority: str = ""

    @property
    def writer_url(self) -> str:
        return self.url.replace("://", f"://{WRITER}:{PASSWORD}@")

    def client(self, database: str = "", user: str = WRITER) -> Client:
        return clickhouse_connect.get_client(
            host="127.0.0.1",
            port=self.http_port,
            secure=bool(self.authority),
            ca_cert=self.authority or None,
            username=user,
            password=PASSWORD if user == WRITER else "",
            database=database or "__default__",
        )


@contextmanager
def clickhouse(folder: Path, users: str = "") -> Iterator[ClickHouse]:
    """Runs the local stack's engine, with the local stack's configuration, on its data and logs in `folder`.

    users: more than the stack's, as elements of users.xml.
    """
    library = Path(os.environ.get("SLUICE_CLICKHOUSE_LIBRARY", LIBRARY))
    if not library.exists():
        raise FileNotFoundError(f"start ClickHouse: {library} is missing; `make setup` brings it")
    http, native = free_ports(2)
    names = {"host": "127.0.0.1", "clickhouse_http": http, "clickhouse_native": native, "data": folder, "conf": folder}
    names["clickhouse_password_sha256"] = hashlib.sha256(PASSWORD.encode()).hexdigest()
    (folder / "clickhouse").mkdir(exist_ok=True)
    for name in ("config.xml", "users.xml"):
        text = Template((LOCAL / name).read_text()).safe_substitute(names)
        (folder / "clickhouse" / name).write_text(text.replace("</users>", f"{users}</users>"))
    url = f"http://127.0.0.1:{http}"

    def ready() -> bool:
        try:
            return requests.get(f"{url}/ping", timeout=10).ok
        except requests.RequestException:
            return False

    config = folder / "clickhouse/config.xml"
    command: list[str | Path] = [sys.executable, LOCAL / "serve.py", "--library", library, "--config", config]
    with running("ClickHouse", command, ready, folder / "process.log", limit_s=60):
        yield ClickHouse(url, http, native)


@contextmanager
def secure_clickhouse(folder: Path, certificates: Path, users: str = "") -> Iterator[ClickHouse]:
    """The same by HTTPS: the embedded engine opens no such port, so a front of ours speaks TLS before it.

    certificates: a folder as certificates/main.go fills it.
    """
    with clickhouse(folder, users) as server, proxy(server.http_port, certificates=certificates) as port:
        yield ClickHouse(f"https://127.0.0.1:{port}", port, server.native_port, str(certificates / "ca.pem"))
