"""What each stage costs while spans come at a steady rate, as OTLP over HTTP to the collector that `make up` runs."""

import http.client
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.cluster import RUN, Cluster, cpu_s, otlp_http
from bench.made_spans import SPANS_PER_ROUND, MadeSpans, Shape
from bench.otlp import post
from bench.spans_topic import TOPIC, timed
from stack.flink import JOBS

#: A part of a program's command line, and its stage.
STAGES = {
    "sluice-collector": "collector",
    "kafka.Kafka": "Kafka",
    "TaskManagerRunner": "TaskManager",
    "StandaloneSessionClusterEntrypoint": "JobManager",
    "clickhouse/serve.py": "ClickHouse",
    "org.neo4j.": "Neo4j",
}


@dataclass(frozen=True)
class Table:
    """Of ClickHouse: what it got in the whole run."""

    name: str
    rows: int
    bytes_on_disk: int


@dataclass(frozen=True)
class Costs:
    """Of a run: CPU and memory by stage. `series`: combinations of service, instance, side and peer in `windows`."""

    spans: int
    seconds: float
    cpu_s: Mapping[str, float]
    resident_bytes: Mapping[str, int]
    topic_bytes_per_span: float
    tables: tuple[Table, ...]
    series: int


def measure(up: Cluster, shape: Shape, warm_s: float, seconds: float) -> Costs:
    """Sends for `warm_s`, which do not count, and `seconds`."""
    job = up.submit(RUN, *JOBS)
    before: dict[str, float] = {}
    begun = 0.0
    counted = sent = 0
    made = MadeSpans(shape)
    start_ns = time.time_ns()
    connection = http.client.HTTPConnection(otlp_http(), timeout=60.0)
    number = 0
    while (elapsed_s := number * made.round_ns / 1e9) < warm_s + seconds:
        if not begun and elapsed_s >= warm_s:
            before, begun = _cpu(up), time.monotonic()
        for due_ns, message in timed(made, number, start_ns + number * made.round_ns):
            time.sleep(max(0.0, (due_ns - time.time_ns()) / 1e9))
            post(connection, message)
        sent += SPANS_PER_ROUND
        counted += SPANS_PER_ROUND if begun else 0
        number += 1
    took_s = time.monotonic() - begun
    after = _cpu(up)
    resident = _resident(up)
    time.sleep(15.0)  # the last windows and traces close
    costs = Costs(
        counted,
        took_s,
        {stage: after[stage] - before[stage] for stage in after},
        resident,
        up.log_bytes(TOPIC) / sent,
        _tables(up),
        int(up.query("SELECT uniqExact(service, instance, side, peer) FROM windows")),
    )
    if restarts := up.restarts(job):
        raise RuntimeError(f"the job failed {restarts} times while it was measured")
    up.cancel(job)
    return costs


def _cpu(up: Cluster) -> dict[str, float]:
    used: dict[str, float] = defaultdict(float)
    for pid, stage in _staged(up):
        used[stage] += cpu_s(pid)
    return dict(used)


def _resident(up: Cluster) -> dict[str, int]:
    used: dict[str, int] = defaultdict(int)
    for pid, stage in _staged(up):
        status = Path(f"/proc/{pid}/status").read_text()
        used[stage] += 1024 * int(status.partition("VmRSS:")[2].split()[0])
    return dict(used)


def _staged(up: Cluster) -> list[tuple[int, str]]:
    found = [(pid, STAGES[mark]) for pid, words in up.processes().items() for mark in STAGES if mark in words]
    if missing := set(STAGES.values()) - {stage for _, stage in found}:
        raise RuntimeError(f"no process of {', '.join(sorted(missing))}")
    return found


def _tables(up: Cluster) -> tuple[Table, ...]:
    answer = up.query(
        "SELECT table, sum(rows), sum(bytes_on_disk) AS size FROM system.parts"
        " WHERE active AND database = 'sluice' GROUP BY table ORDER BY size DESC"
    )
    lines = [line.split("\t") for line in answer.splitlines()]
    return tuple(Table(name, int(rows), int(size)) for name, rows, size in lines)
