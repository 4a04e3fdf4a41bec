"""A ClickHouse server of its own for tests: the engine that the local stack runs, on free ports."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import clickhouse_connect
import requests
from clickhouse_connect.driver.client import Client

from support.ports import free_ports
from support.processes import running

REPOSITORY = Path(__file__).resolve().parents[2]

_LAUNCH = """
import ctypes, sys
arguments = [b"clickhouse", *(a.encode() for a in sys.argv[2:])]
argv = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
engine = ctypes.CDLL(sys.argv[1])
engine.query_stable_v2.restype = ctypes.c_void_p
engine.query_stable_v2(len(arguments), argv)
"""
_START = """
SYSTEM START LISTEN QUERIES ALL;
SELECT sleepEachRow(1) FROM numbers(1000000000)
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1 FORMAT Null;
"""
_CONFIG = """
<clickhouse>
  <logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/server.err.log</errorlog></logger>
  <path>{folder}/data/</path>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http}</http_port>
  <tcp_port>{native}</tcp_port>
  <users_config>users.xml</users_config>
</clickhouse>
"""
_USERS = """
<clickhouse>
  <profiles>
    <default/>
    <reader><readonly>2</readonly><max_execution_time>30</max_execution_time></reader>
  </profiles>
  <users>
    <default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
    <sluice_reader><password/><networks><ip>127.0.0.1</ip></networks><profile>reader</profile><quota>default</quota></sluice_reader>
  </users>
  <quotas><default/></quotas>
</clickhouse>
"""


@dataclass(frozen=True)
class ClickHouse:
    """A server that is up."""

    url: str
    http_port: int
    native_port: int

    def client(self, database: str = "", user: str = "default") -> Client:
        return clickhouse_connect.get_client(
            host="127.0.0.1", port=self.http_port, username=user, database=database or "__default__"
        )


def _library() -> Path:
    named = os.environ.get("SLUICE_CLICKHOUSE_LIBRARY")
    found = [Path(named)] if named else sorted((REPOSITORY / ".cache/clickhouse").glob("**/libchdb.so"))
    if not found:
        raise FileNotFoundError("find the ClickHouse engine under .cache/clickhouse: run `make setup` first")
    return found[0]


@contextmanager
def clickhouse(folder: Path) -> Iterator[ClickHouse]:
    """Runs a server with its data and logs in `folder`."""
    http, native = free_ports(2)
    (folder / "config.xml").write_text(_CONFIG.format(folder=folder, http=http, native=native))
    (folder / "users.xml").write_text(_USERS)
    (folder / "start.sql").write_text(_START)
    url = f"http://127.0.0.1:{http}"
    command = [sys.executable, "-c", _LAUNCH, _library(), "--config-file", folder / "config.xml"]
    command += ["--queries-file", folder / "start.sql", "--path", folder / "data"]

    def ready() -> bool:
        try:
            return requests.get(f"{url}/ping", timeout=1).ok
        except requests.RequestException:
            return False

    with running("ClickHouse", command, ready, folder / "process.log", limit_s=60):
        yield ClickHouse(url, http, native)
