"""How the job's speed grows with its parallelism, each step with twice the CPU.

Two cores cannot hold a TaskManager of four, so a quota of the kernel gives it a share of a core for each of its
parallel parts. Kafka, ClickHouse and Neo4j have the rest. One TaskManager, once compiled, runs all steps.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import spans_topic
from bench.cluster import RUN, Cluster
from bench.made_spans import Shape
from stack.flink import JOBS

#: Of a core, for each parallel part: four have 1.2.
SHARE = 0.3
PARALLELISM = (1, 2, 4)
PARTITIONS = 4
_FIRST, _LAST = 0.2, 0.95
_PERIOD_US = 20_000
_CGROUPS = Path("/sys/fs/cgroup")
Limit = Callable[[float | None], None]


def measure(up: Cluster, shape: Shape, spans_each: int, warm_spans: int) -> dict[int, float]:
    """Spans/s by the clock, by parallelism."""
    up.fresh_taskmanager()
    with quota(up.taskmanager()) as limit:
        _drained(up, shape, warm_spans, PARALLELISM[-1])
        speeds = {}
        for parallelism in PARALLELISM:
            limit(SHARE * parallelism)
            speeds[parallelism] = _drained(up, shape, spans_each * parallelism, parallelism)
            limit(None)
        return speeds


@contextmanager
def quota(pid: int) -> Iterator[Limit]:
    """A function that limits the process to so many cores, None for no limit. Needs root and cgroups (v1 or v2)."""
    unified = (_CGROUPS / "cgroup.controllers").exists()
    root = _CGROUPS if unified else _CGROUPS / "cpu"
    group = root / f"sluice-bench-{pid}"
    group.mkdir()
    home = _home(pid, unified)

    def limit(cores: float | None) -> None:
        share = None if cores is None else int(cores * _PERIOD_US)
        if unified:
            (group / "cpu.max").write_text(f"{share or 'max'} {_PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(share or -1))

    try:
        (group / "cgroup.procs").write_text(str(pid))
        yield limit
    finally:
        if Path(f"/proc/{pid}").exists():
            (root / home / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def _home(pid: int, unified: bool) -> str:
    """The path of the process's own group, below the root."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if (not controllers) if unified else ("cpu" in controllers.split(",")):
            return path.lstrip("/")
    raise RuntimeError(f"process {pid} has no cgroup for CPU")


def _drained(up: Cluster, shape: Shape, spans: int, parallelism: int) -> float:
    messages = spans_topic.fill(up.kafka, shape, spans, PARTITIONS)
    job = up.submit(RUN, *JOBS, parallelism=parallelism)
    samples = [(0, time.monotonic())]
    while samples[-1][0] < messages:
        time.sleep(0.1)
        if (consumed := up.consumed(job)) != samples[-1][0]:
            samples.append((consumed, time.monotonic()))
    if restarts := up.restarts(job):
        raise RuntimeError(f"the job failed {restarts} times while it was measured")
    up.cancel(job)
    begin = next(sample for sample in samples if sample[0] >= _FIRST * messages)
    end = next(sample for sample in samples if sample[0] >= _LAST * messages)
    return (end[0] - begin[0]) * shape.message_spans / (end[1] - begin[1])
