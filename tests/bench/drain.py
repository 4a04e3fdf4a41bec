"""Measures a Flink job while it drains a topic that was filled before: spans per second of the TaskManager's CPU.

The first part of the messages warms the JVM up and is left out. CPU is compared with progress at the moments at which
Flink's own count of consumed records is seen to change.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from bench.cluster import Cluster, cpu_s

WARM_UP = 0.6
#: What is in flight inside the job is small beside this.
LAST = 0.98
LIMIT_S = 600.0


@dataclass(frozen=True)
class Drained:
    """`spans_per_cpu_s`: of one core. `state_bytes`: of a checkpoint after the last message."""

    spans_per_cpu_s: float
    spans_per_s: float
    state_bytes: int


@dataclass(frozen=True)
class _Sample:
    consumed: int
    cpu_s: float
    at_s: float


def drain(
    cluster: Cluster, script: Path, words: tuple[str, ...], messages: int, spans: int, parallelism: int = 1
) -> Drained:
    """Runs the job on a TaskManager of its own until it has consumed `messages`, which hold `spans`."""
    cluster.fresh_taskmanager()
    job = cluster.submit(script, *words, parallelism=parallelism)
    samples = _watch(cluster, job, messages)
    if restarts := cluster.restarts(job):
        raise RuntimeError(f"{script.name} {' '.join(words)} failed {restarts} times while it was measured")
    state = cluster.state_bytes(job)
    cluster.cancel(job)
    begin = next(sample for sample in samples if sample.consumed >= WARM_UP * messages)
    end = next(sample for sample in samples if sample.consumed >= LAST * messages)
    measured = (end.consumed - begin.consumed) * spans / messages
    if not measured:
        raise RuntimeError(f"{script.name} took {messages} messages faster than Flink counts: give it more")
    return Drained(measured / (end.cpu_s - begin.cpu_s), measured / (end.at_s - begin.at_s), state)


def _watch(cluster: Cluster, job: str, messages: int) -> list[_Sample]:
    """Until all messages are consumed."""
    process = cluster.taskmanager()
    samples = [_Sample(0, 0.0, 0.0)]
    deadline = time.monotonic() + LIMIT_S
    while samples[-1].consumed < messages:
        if time.monotonic() > deadline:
            raise TimeoutError(f"consumed {samples[-1].consumed} of {messages} messages within {LIMIT_S:.0f} s")
        time.sleep(0.1)
        consumed = cluster.consumed(job)
        if consumed != samples[-1].consumed:
            samples.append(_Sample(consumed, cpu_s(process), time.monotonic()))
    return samples
