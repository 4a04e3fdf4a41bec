"""What `sluice-actuator` costs beside 1, 100 and 1,000 targets: memory, CPU, calls a minute.

The actuator and the recommender (`sluice-server` on a log of a real broker) are the real ones, with the actuator's
shipped defaults: a reading of each target every 2 s. Targets are Tomcats as their Jolokia agents answer, all behind one
small HTTP server, 20 instances a pool. CPU is that of the actuator's process: other work on the machine lengthens what
is told in seconds, and nothing else.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.go_program import built
from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.kafka import kafka
from sluice_kit.waiting import until

CACHE = Path(__file__).parents[2] / ".cache"
ACTUATOR = CACHE / "bin/sluice-actuator"
SIZES = (1, 100, 1_000)
A_POOL = 20
MINUTE_S, QUICK_S = 60.0, 10.0
TICKS_S = os.sysconf("SC_CLK_TCK")
LEASE_S = 3_600


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "kafka").mkdir()
        program = built("jolokia_targets", folder)
        with kafka(folder / "kafka") as broker:
            rows = []
            for targets in SIZES[:2] if quick else SIZES:
                rows += measure(Log(broker), folder, program, targets, QUICK_S if quick else MINUTE_S)
    return rows


@dataclass
class Counts:
    """Everything since the actuator began."""

    cpu_s: float
    asked: int
    reports: float
    sizes: dict[str, int]


def measure(log: Log, folder: Path, program: Path, targets: int, rest_s: float) -> list[tuple[str, str]]:
    pools = -(-targets // A_POOL)
    _say(log, pools, 48)
    with serving_at(log, folder, {}) as recommender, _served(program) as (address, asked):
        (port,) = free_ports(1)
        page = f"http://127.0.0.1:{port}"
        config = folder / f"actuator-{targets}.yaml"
        config.write_text(_configuration(targets, port, recommender, address))

        def counts(pid: int) -> Counts:
            seen = asked()
            return Counts(_cpu_s(pid), sum(seen["asked"].values()), _metric(page, "reports_sent_total"), seen["sizes"])

        command: list[str | Path] = [ACTUATOR, "--config", config]
        output = folder / f"actuator-{targets}.log"
        with running("actuator", command, lambda: _answers(page), output, 60, stop_s=60) as process:
            until("all have their first size", lambda: asked()["sizes"] == {"48": targets})
            time.sleep(rest_s / 4)
            before, began = counts(process.pid), time.monotonic()
            time.sleep(rest_s)
            after, lasted_s = counts(process.pid), time.monotonic() - began
            rest_kb = _kb(process.pid, "VmRSS")
            _say(log, pools, 40)
            changed = time.monotonic()
            until("all have the next size", lambda: asked()["sizes"] == {"40": targets})
            change_s = time.monotonic() - changed
            at_rest_s = (after.cpu_s - before.cpu_s) / lasted_s * change_s
            change_cpu_s = max(0.0, _cpu_s(process.pid) - after.cpu_s - at_rest_s)
            most_kb = _kb(process.pid, "VmHWM")
            dropped = _metric(page, "reports_dropped_total")
    a_minute = 60 / lasted_s
    cpu_ms = 1e3 * (after.cpu_s - before.cpu_s) * a_minute
    reads, reports = (after.asked - before.asked) * a_minute, (after.reports - before.reports) * a_minute
    return [
        (
            f"**{targets:,} targets of {pools} pools**: memory at rest, at most",
            f"{rest_kb / 1e3:.0f} MB, {most_kb / 1e3:.0f} MB",
        ),
        ("CPU of a minute at rest, and of a core", f"{cpu_ms:,.0f} ms, {cpu_ms / 600:.2f} %"),
        ("calls of a minute at rest: to targets, reports to the recommender", f"{reads:,.0f}, {reports:,.0f}"),
        (
            "another size for all: CPU of it, in force at the last after; reports dropped",
            f"{change_cpu_s * 1e3:,.0f} ms, {change_s:.1f} s; {dropped:.0f}",
        ),
    ]


def _say(log: Log, pools: int, size: int) -> None:
    """An answer for each pool."""
    answers = []
    for n in range(pools):
        answer = PoolSize(
            pool=Pool(service=f"service-{n}", side=SIDE_SERVER),
            state=STATE_PROVIDED, action=ACTION_APPLY, target=size, revision=1_000 - size,
        )  # fmt: skip
        answer.valid_until.FromSeconds(int(time.time()) + LEASE_S)
        answers.append(("decisions", f"pool/service-{n}/server/", answer))
    log.commit(*answers, lease_s=LEASE_S)


def _configuration(targets: int, port: int, recommender: str, address: str) -> str:
    head = {"name": "bench", "status_address": f"127.0.0.1:{port}", "recommender": {"address": recommender}}
    each = [
        {
            "name": f"t{n}",
            "instance": f"i{n}",
            "pool": {"service": f"service-{n // A_POOL}", "side": "server"},
            "apply": True,
            "min": 2,
            "max": 128,
            "tomcat": {"url": f"http://{address}/{n}/jolokia/"},
        }
        for n in range(targets)
    ]
    return json.dumps({**head, "targets": each})


@contextmanager
def _served(program: Path) -> Iterator[tuple[str, Any]]:
    """HOST:PORT of the targets, and what asks how often they were asked."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    try:
        yield address, lambda: json.load(urlopen(f"http://{address}/asked", timeout=30))
    finally:
        process.kill()
        process.wait()


def _answers(page: str) -> bool:
    try:
        return bool(urlopen(f"{page}/healthz", timeout=5).status == 200)
    except OSError:
        return False


def _metric(page: str, name: str) -> float:
    for line in urlopen(f"{page}/metrics", timeout=30).read().decode().splitlines():
        if line.startswith(f"sluice_actuator_{name} "):
            return float(line.split()[1])
    raise LookupError(name)


def _cpu_s(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_S


def _kb(pid: int, what: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))
