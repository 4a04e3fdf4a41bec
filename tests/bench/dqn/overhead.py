"""What it costs a service to be watched and sized, and how long an actuation takes (uConAdapter 4.1, 5.5 and Table 4).

Two Tomcats with the same handlers, one core for both: one has no agent, the other has OpenTelemetry's, whose spans go
to a real collector and Kafka, and Jolokia's, which a real actuator reads every 2 s. Users take turns between them. The
actuator is told another size each second, as the paper's agent may, or none. CPU time is that of the Tomcat's process:
what else the machine does lengthens an actuation, and makes fewer requests, which then have more of what a second costs
whoever asks for nothing. So that is measured by itself too, and the rest is a request's.

The JVMs compile as Java does by default (in the tests with the first compiler only), so nothing counts before code of
agents and handlers is compiled.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
import requests

from bench.decision.summary import markdown
from sluice.pools.v1.actuation_pb2 import Actuation, ActuationOutcome
from sluice.pools.v1.pool_pb2 import Pool, Side
from support.collector import collector
from support.cores import pinned, split
from support.kafka import kafka
from support.ports import free_ports
from support.postgres import postgres
from support.processes import running
from support.real_load import shaped
from support.said_sizes import SaidSizes
from support.stack import REPOSITORY
from support.tomcat import Application, application

SERVICE, USERS = "watched", 40
SIZES = (16, 20)
WARM = 15_000
"""Requests of each handler, to each Tomcat, before any count: code is compiled by then."""
BARE, WATCHED, SIZED = "without agents", "spans, and its size read every 2 s", "and another size each second"
ARMS = (BARE, WATCHED, SIZED)
TICKS_S = os.sysconf("SC_CLK_TCK")
ACTUATOR = """
name: bench
status_address: {status}
recommender: {{address: "{recommender}", interval: 2s}}
targets:
  - name: threads
    pool: {{service: {service}, side: server}}
    apply: true
    min: 2
    max: 128
    cooldown: 500ms
    changes_per_hour: 3600
    settle: 10s
    tomcat: {{url: "{jolokia}"}}
"""


@dataclass
class Seen:
    """Of one arm and handler: (CPU seconds, requests, seconds) of each turn."""

    turns: list[tuple[float, int, float]] = field(default_factory=list)

    def each_ms(self, idle: float = 0.0) -> list[float]:
        """CPU time of a request in each turn. idle: of a second, that is no request's, ms."""
        return [(1e3 * cpu - idle * seconds) / count for cpu, count, seconds in self.turns]

    def ms(self, idle: float = 0.0) -> float:
        counts = np.array([count for _, count, _ in self.turns])
        return float(np.array(self.each_ms(idle)) @ counts / counts.sum())


def report(rounds: int = 4, seconds: float = 12.0, warm: int = WARM) -> str:
    core, others = split()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as up:
        folder = Path(directory)
        (folder / "kafka").mkdir()
        broker = up.enter_context(kafka(folder / "kafka"))
        otlp = up.enter_context(collector(broker, others, folder))
        database = up.enter_context(postgres([core], folder / "postgres.log"))
        tomcat = partial(application, threads=SIZES[1], database=database, cores=[core], quick=False)
        bare = up.enter_context(tomcat("bare", log=folder / "bare.log", agents=False))
        watched = up.enter_context(tomcat(SERVICE, log=folder / "watched.log", otlp=otlp))
        said = up.enter_context(SaidSizes())
        up.enter_context(_actuator(said, watched, others, folder))
        of = {BARE: bare, WATCHED: watched, SIZED: watched}
        found = {(handler, arm): Seen() for handler in ("plain", "update") for arm in ARMS}
        for handler in ("plain", "update"):
            for each in (bare, watched):
                asked = 0
                while asked < warm:
                    asked += _turn(each, handler, others, seconds)[1]
            for number in range(rounds):
                for arm in ARMS[number % 3 :] + ARMS[: number % 3]:
                    with _sizing(said) if arm == SIZED else ExitStack():
                        found[handler, arm].turns.append(_turn(of[arm], handler, others, seconds))
                    print(f"{handler}, {arm}: {found[handler, arm].each_ms()[-1]:.3f} ms a request", flush=True)
        idle = {}
        for arm in ARMS:
            with _sizing(said) if arm == SIZED else ExitStack():
                idle[arm] = _idle(of[arm], 2 * seconds)
        took = [each for each in said.reports if each.requested]
    return f"{_costs(found, idle)}\n{_actuations(took)}"


def _idle(of: Application, seconds: float) -> float:
    """CPU time of a second in which nobody asks for anything, ms."""
    before, begun = _cpu_s(of.pid), time.monotonic()
    time.sleep(seconds)
    return 1e3 * (_cpu_s(of.pid) - before) / (time.monotonic() - begun)


def _turn(of: Application, handler: str, others: set[int], seconds: float) -> tuple[float, int, float]:
    before, begun = _cpu_s(of.pid), time.monotonic()
    seen = shaped(others, f"{of.url}/{handler}", SERVICE, "steady", USERS, seconds, "")
    return _cpu_s(of.pid) - before, sum(second["responses"] for second in seen), time.monotonic() - begun


@contextmanager
def _sizing(said: SaidSizes) -> Iterator[None]:
    """Another size each second, while the block lasts."""
    over, pool = threading.Event(), Pool(service=SERVICE, side=Side.SIDE_SERVER)

    def say() -> None:
        for size in cycle(SIZES):
            said.say(pool, size)
            if over.wait(1.0):
                return

    sayer = threading.Thread(target=say)
    sayer.start()
    try:
        yield
    finally:
        over.set()
        sayer.join()


@contextmanager
def _actuator(said: SaidSizes, of: Application, cores: set[int], folder: Path) -> Iterator[None]:
    (status,) = free_ports(1)
    config = folder / "actuator.yaml"
    address = f"127.0.0.1:{status}"
    config.write_text(ACTUATOR.format(status=address, recommender=said.address, service=SERVICE, jolokia=of.jolokia))
    command = pinned(cores, [REPOSITORY / ".cache/bin/sluice-actuator", "--config", config])

    def ready() -> bool:
        try:
            return requests.get(f"http://{address}/healthz", timeout=2).ok
        except requests.RequestException:
            return False

    with running("actuator", command, ready, folder / "actuator.log", 60):
        yield


def took_ms(detail: str) -> float | None:
    """As the actuator has it: `in force after 62ms`, `1.062s`; None where it is not in force."""
    found = re.search(r"in force after ([\d.]+)(ms|s)$", detail)
    return float(found[1]) * (1 if found[2] == "ms" else 1e3) if found else None


def _costs(found: dict[tuple[str, str], Seen], idle: dict[str, float]) -> str:
    rows = []
    for (handler, arm), seen in found.items():
        bare = found[handler, BARE]
        both = zip(seen.each_ms(idle[arm]), bare.each_ms(idle[BARE]), strict=True)
        more = [each / other - 1 for each, other in both]
        of_request = seen.ms(idle[arm]) / bare.ms(idle[BARE]) - 1
        told = ["", ""] if arm == BARE else [f"{of_request:+.1%}", f"{min(more):+.1%} to {max(more):+.1%}"]
        count = sum(count for _, count, _ in seen.turns)
        rows.append([f"`/{handler}`", arm, f"{count:,}", f"{seen.ms(idle[arm]):.2f} ms", *told])
    head = ["handler", "Tomcat", "requests", "CPU time a request", "more than without (paper: 5 % at most)", "by turn"]
    still = [[arm, f"{ms:.1f} ms", f"{ms / 10:.2f} %"] for arm, ms in idle.items()]
    return f"{markdown(head, rows)}\n{markdown(['nobody asks', 'CPU time a second', 'of a core'], still)}"


def _actuations(reports: Sequence[Actuation]) -> str:
    rows = []
    for what, way in (("to more threads", 1), ("to fewer", -1)):
        of = [each for each in reports if way * (each.requested - each.previous) > 0]
        applied = [each for each in of if each.outcome == ActuationOutcome.ACTUATION_OUTCOME_APPLIED]
        times = [ms for ms in (took_ms(each.detail) for each in applied) if ms is not None]
        if times:
            figures = (np.mean(times), np.median(times), np.quantile(times, 0.95), max(times))
            rows.append([what, f"{len(times)} of {len(of)}", *(f"{each:.0f} ms" for each in figures)])
    head = ["actuation under load, write to read-back", "in force", "mean (paper: 62 ms)", "median", "p95", "most"]
    return markdown(head, rows)


def _cpu_s(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_S
