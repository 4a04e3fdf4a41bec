"""What a command of `./sluice` costs: CPU of its process, from the launcher to its end, without that of the servers.

The servers are `sluice-server` on a log with one answer, and a real ClickHouse with the schema, in processes of their
own. `doctor` asks all stages: it is measured with none of them up, and once more on the stack that
SLUICE_STACK names, or the default one, where that is up.
"""

import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from migrate.__main__ import schema_up
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.kafka import kafka
from stack import environment, settings

SLUICE = str(Path(__file__).resolve().parents[2] / "sluice")
#: Words of a command, and its bar in seconds of CPU.
COMMANDS: tuple[tuple[tuple[str, ...], float], ...] = (
    (("--help",), 0.3),
    (("--version",), 0.3),
    (("completion", "bash"), 0.3),
    (("pools", "list"), 0.6),
    (("pools", "list", "-o", "yaml"), 0.6),
    (("pools", "explain", "cart"), 0.6),
    (("sql", "SELECT 1"), 0.6),
    (("critical-service",), 0.6),
)
DOCTOR_BAR_S = 0.6


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    times = 3 if quick else 11
    nothing_s = median_cpu_s([sys.executable, "-c", "pass"], os.environ, times)
    rows = [("reference: `python -c pass`", f"{nothing_s:.3f} s")]

    def measure(words: tuple[str, ...], where: Mapping[str, str], bar_s: float, remark: str = "") -> None:
        cpu_s = median_cpu_s([SLUICE, *words], os.environ | where, times)
        shown = " ".join(f"'{word}'" if " " in word else word for word in words)
        rows.append(
            (f"`./sluice {shown}`{remark} (bar {bar_s} s)", f"{cpu_s:.3f} s, {cpu_s / nothing_s:.0f} times that")
        )

    with servers() as where:
        for words, bar_s in COMMANDS:
            measure(words, where, bar_s)
    addresses = environment.addresses(settings.load())
    measure(("doctor",), closed(addresses), DOCTOR_BAR_S, ", nothing up")
    if is_up(addresses):
        measure(("doctor",), addresses, DOCTOR_BAR_S, ", everything up")
    return rows


def median_cpu_s(command: list[str], where: Mapping[str, str], times: int) -> float:
    """User and system time of the process and its children. The first run, which may compile, does not count."""
    results = []
    for _ in range(times + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=dict(where), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        results.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(results[1:])[times // 2]


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / name for name in ("clickhouse", "kafka", "server")]
        for item in folders:
            item.mkdir()
        with clickhouse(folders[0]) as database, kafka(folders[1]) as broker:
            schema_up(database.writer_url, "sluice", wait_s=30)
            log = Log(broker)
            cart = PoolSize(pool=Pool(service="cart", side=SIDE_SERVER), state=STATE_PROVIDED, target=12, revision=1)
            explanation = ("explanations", "pool/cart/server/", Explanation(completions=7))
            log.commit(("decisions", "pool/cart/server/", cart), explanation, lease_s=3_600)
            with serving_at(log, folders[2], {}) as address:
                yield {"SLUICE_RECOMMENDER": address, "SLUICE_CLICKHOUSE": database.url}


def closed(addresses: Mapping[str, str]) -> dict[str, str]:
    """Each address with a port that nothing listens on."""
    named = {name: value for name, value in addresses.items() if value.rpartition(":")[2].isdigit()}
    ports = free_ports(len(named))
    return {
        name: f"{value.rpartition(':')[0]}:{port}" for (name, value), port in zip(named.items(), ports, strict=True)
    }


def is_up(addresses: Mapping[str, str]) -> bool:
    host, _, port = addresses["SLUICE_KAFKA"].rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True
