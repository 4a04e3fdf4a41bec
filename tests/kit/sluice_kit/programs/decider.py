"""The decider as a process, and windows of the simulated shop for it to decide by."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.clickhouse import ClickHouse
from testbed.presets.shop import CART_THREADS, shop
from testbed.simulation import Simulation
from testbed.spans import Span
from testbed.windows import windows

REPOSITORY = Path(__file__).resolve().parents[4]
SIMULATED_S, RUNS = 75, 8
# Much more than anything takes: the machine may be busy.
PATIENCE_S = 200
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]


def windows_of_shop() -> list[list[Any]]:
    """A bit more than a minute of the shop with 64 threads in cart; buckets as milliseconds since its start."""
    spans: list[Span] = []
    Simulation(shop(sizes={CART_THREADS: 64}), 1, spans.append).run_until(SIMULATED_S)
    return [
        [
            *(key.side, key.service, key.peer, key.instance, key.bucket_ns // 10**6, 100),
            *(window.busy_ns, window.completions, window.errors, dict(window.latency), window.completions + 1),
        ]
        for key, window in windows(spans).items()
    ]


def insert(database: ClickHouse, rows: list[list[Any]]) -> None:
    """As if the run had ended just now, and went on as before for longer than any test: windows of before the decider
    began are not decided from."""
    start_ms = (time.time_ns() // 10**6 - SIMULATED_S * 1000) // 100 * 100
    shifted = [
        [*row[:4], datetime.fromtimestamp((start_ms + 1000 * SIMULATED_S * run + row[4]) / 1000, UTC), *row[5:]]
        for run in range(RUNS)
        for row in rows
    ]
    database.client("sluice").insert("windows", shifted, column_names=COLUMNS)


@contextmanager
def feeding(database: ClickHouse, rows: list[list[Any]]) -> Iterator[None]:
    """Windows as a pipeline brings them that is up: what is there by now at once, and the rest as time passes."""
    over = threading.Event()
    start_ms = (time.time_ns() // 10**6 - SIMULATED_S * 1000) // 100 * 100
    client = database.client("sluice")

    def bring() -> None:
        brought_ms = start_ms - 1
        while True:
            now_ms = time.time_ns() // 10**6
            run_ms = range(start_ms, now_ms + 1, 1000 * SIMULATED_S)
            due = [
                [*row[:4], datetime.fromtimestamp(at_ms / 1000, UTC), *row[5:]]
                for begun_ms in run_ms
                for row in rows
                if brought_ms < (at_ms := begun_ms + row[4]) <= now_ms
            ]
            if due:
                client.insert("windows", due, column_names=COLUMNS)
            brought_ms = now_ms
            if over.wait(0.5):
                return

    thread = threading.Thread(target=bring)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Decider:
    def __init__(self, folder: Path, database_url: str, bootstrap: str, prefix: str, yaml: str) -> None:
        """bootstrap, prefix: of the journal. folder: its own."""
        self.path, self.output = folder / "sluice.yaml", folder / "decider.log"
        self.path.write_text(yaml)
        self.pages = f"127.0.0.1:{free_ports(1)[0]}"
        self._environment = os.environ | {
            "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
            "SLUICE_CLICKHOUSE": database_url,
            "SLUICE_KAFKA": bootstrap,
            "SLUICE_TOPIC_PREFIX": prefix,
            "SLUICE_HEALTH": self.pages,
        }

    @contextmanager
    def running(self) -> Iterator["subprocess.Popen[bytes]"]:
        command = [sys.executable, "-m", "sluice.decider", "--config", str(self.path)]
        with self.output.open("ab") as out:
            process = subprocess.Popen(command, env=self._environment, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def wait_for_log(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.output.read_text().count(text) < times:
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.05)

    def metric(self, name: str) -> float:
        """0 where it is not there yet."""
        values = [line.split()[-1] for line in self.page("/metrics").splitlines() if line.startswith(f"{name} ")]
        return float(values[0]) if values else 0.0

    def page(self, path: str, status: int = 200) -> str:
        """status: the expected one."""
        answer = requests.get(f"http://{self.pages}{path}", timeout=PATIENCE_S)
        assert answer.status_code == status, answer.text
        return answer.text
