"""A Neo4j server of its own for tests: the one that the local stack runs, on free ports."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import StartError, running

REPOSITORY = Path(__file__).resolve().parents[4]
LOCAL = REPOSITORY / "deploy/local/neo4j"
JARS = REPOSITORY / ".cache/neo4j/lib"
PASSWORD = "of-a-test"
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.util.concurrent")


@dataclass(frozen=True)
class Neo4j:
    """A server that is up."""

    url: str
    password: str
    http: str


def _java() -> str:
    chosen = REPOSITORY / ".cache/java-home"
    return str(chosen.resolve() / "bin/java") if chosen.exists() else "java"


def with_tls(conf: str, certificates: Path) -> str:
    """The server's configuration with TLS alone, for Bolt and HTTP."""
    kept = [line for line in conf.splitlines() if not line.startswith(("server.https.enabled", "server.http."))]
    (address,) = (line.partition("=")[2] for line in conf.splitlines() if line.startswith("server.http.listen_address"))
    kept += ["server.http.enabled=false", "server.https.enabled=true", f"server.https.listen_address={address}"]
    kept += ["server.bolt.tls_level=REQUIRED"]
    for what in ("bolt", "https"):
        policy = f"dbms.ssl.policy.{what}"
        kept += [f"{policy}.enabled=true", f"{policy}.base_directory={certificates}", f"{policy}.client_auth=NONE"]
        kept += [f"{policy}.private_key=key.pem", f"{policy}.public_certificate=certificate.pem"]
    return "\n".join([*kept, ""])


@contextmanager
def neo4j(
    folder: Path, transaction_memory: str = "128m", certificates: Path | None = None, database: str = "neo4j"
) -> Iterator[Neo4j]:
    """Runs the local stack's server, with the local stack's configuration, on its data and logs in `folder`.

    certificates: a folder as certificates/main.go fills it; then it speaks TLS alone. database: name of the only one.
    """
    if not any(JARS.glob("neo4j-*.jar")):
        raise FileNotFoundError(f"start Neo4j: {JARS} has no jars; `make setup` brings them")
    bolt, http = free_ports(2)
    names = {"host": "127.0.0.1", "neo4j_bolt": bolt, "neo4j_http": http, "data": folder, "logs": folder}
    names |= {"memory_neo4j_page_cache": "32m", "memory_neo4j_transaction": transaction_memory}
    (folder / "conf").mkdir()
    conf = Template((LOCAL / "neo4j.conf").read_text()).safe_substitute(names)
    conf += f"initial.dbms.default_database={database}\n"
    (folder / "conf/neo4j.conf").write_text(with_tls(conf, certificates) if certificates else conf)
    java = [_java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"]
    java += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
    java += ["-cp", f"{JARS}/*"]
    admin = subprocess.run(
        [*java, "org.neo4j.server.startup.Neo4jAdminCommand", "dbms", "set-initial-password", PASSWORD],
        env={**os.environ, "NEO4J_HOME": str(folder), "NEO4J_CONF": str(folder / "conf")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    if admin.returncode:
        raise StartError(f"set Neo4j's password: {admin.stdout.decode(errors='replace')[-2000:]}")
    command = [*java, "org.neo4j.server.CommunityEntryPoint", f"--home-dir={folder}", f"--config-dir={folder}/conf"]

    def ready() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", bolt)) == 0

    with running(
        "Neo4j", [*command, "--console-mode"], ready, folder / "process.log", limit_s=150, stop_s=0.5
    ):  # a clean stop takes 10 s, and nobody opens these data again
        yield Neo4j(f"bolt://127.0.0.1:{bolt}", PASSWORD, f"{'https' if certificates else 'http'}://127.0.0.1:{http}")
