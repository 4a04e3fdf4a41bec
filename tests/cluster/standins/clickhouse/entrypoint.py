#!/usr/bin/python3
"""As clickhouse-server's entrypoint: the user from CLICKHOUSE_*, then the server as the user clickhouse.

CLICKHOUSE_USER, CLICKHOUSE_PASSWORD or CLICKHOUSE_PASSWORD_FILE, CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT.
Files of /docker-entrypoint-initdb.d run in no stand-in.
"""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

sys.path.insert(0, "/opt/chdb")
from merge import merge, merged, users  # beside serve.py in the image

ETC, DATA, RUN = Path("/etc/clickhouse-server"), Path("/var/lib/clickhouse"), Path("/tmp/clickhouse")
UID = 101


def user() -> str:
    """users.d's file for CLICKHOUSE_USER; "" without one."""
    name, file = os.environ.get("CLICKHOUSE_USER", ""), os.environ.get("CLICKHOUSE_PASSWORD_FILE", "")
    password = Path(file).read_text().rstrip("\n") if file else os.environ.get("CLICKHOUSE_PASSWORD", "")
    if not name:
        return ""
    sha256 = hashlib.sha256(password.encode()).hexdigest()
    access = os.environ.get("CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT", "0")
    return (
        f"<clickhouse><users><{escape(name)}><password_sha256_hex>{sha256}</password_sha256_hex><networks><ip>::/0</ip></networks>"
        f"<profile>default</profile><quota>default</quota><access_management>{escape(access)}</access_management>"
        f"</{escape(name)}></users></clickhouse>"
    )


def main() -> None:
    extra = user()  # before the process gives root up: a secret's file may be root's
    if os.getuid() == 0:
        for path in (DATA, *DATA.rglob("*")):
            os.chown(path, UID, UID, follow_symlinks=False)
        os.setgroups([])
        os.setgid(UID)
        os.setuid(UID)
    RUN.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = merged(ETC / "config.xml", ETC / "config.d")
    merge(
        server,
        ElementTree.fromstring(
            f"<clickhouse><user_directories><users_xml><path>{RUN}/users.xml</path></users_xml>"
            f"<local_directory><path>{DATA}/access/</path></local_directory></user_directories></clickhouse>"
        ),
    )
    ElementTree.ElementTree(server).write(RUN / "config.xml")
    accounts = users(ETC / "users.xml", ETC / "users.d")
    if extra:
        merge(accounts, ElementTree.fromstring(extra))
    ElementTree.ElementTree(accounts).write(RUN / "users.xml")
    os.environ["HOME"] = "/tmp"
    words = ["--library", "/opt/chdb/libchdb.so", "--config", str(RUN / "config.xml")]
    # The engine ends by SIGTERM's default action, which the first process of a container does not have.
    server_process = subprocess.Popen([sys.executable, "/opt/chdb/serve.py", *words])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: server_process.send_signal(number))
    sys.exit(server_process.wait())


main()
