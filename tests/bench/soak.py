"""All streaming jobs for an hour (SECONDS=) at half the rate that this machine can take: what grows, and what does not.

The rate is measured first, as `flink-jobs` does: a full topic, drained by all jobs in one. Every 10 s: resident memory
of the TaskManager, its heap after a collection, records that wait, and the newest checkpoint.
"""

import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import heap_log, spans_topic
from bench.cluster import RUN, Cluster, cluster, cpu_s
from bench.drain import drain
from bench.made_spans import Shape
from bench.plots import plot_series
from bench.results import OUT
from stack.flink import JOBS
from stack.supervisor import resident_bytes

MIB = 1 << 20
SECONDS, QUICK_SECONDS = 3600.0, 60.0
EVERY_S = 10.0
#: Flink's REST answers with what it had when it was asked before, and fetches what is new: asked twice.
FETCH_S = 2.0
#: Drained to measure the rate.
SPANS, QUICK_SPANS = 4_000_000, 1_000_000
#: The first third is warming up.
WARM = 1 / 3
#: An hour at full length would be several GB.
KEPT = {"retention_bytes": "268435456", "segment_bytes": "67108864"}


@dataclass(frozen=True)
class Sample:
    """at_s: since the begin. cpu_s: of the TaskManager. heap_bytes: after the newest collection, None if none."""

    at_s: float
    cpu_s: float
    resident_bytes: int
    heap_bytes: int | None
    waiting: int
    checkpoint_ms: int
    state_bytes: int
    completed: int
    failed: int


def run(quick: bool = False) -> str:
    seconds = float(os.environ.get("SECONDS") or (QUICK_SECONDS if quick else SECONDS))
    if seconds < 3 * EVERY_S:
        raise ValueError(f"SECONDS is {seconds:g}: must be at least {3 * EVERY_S:g}")
    shape = Shape()
    with cluster(graph=True) as up:
        messages = spans_topic.fill(up.kafka, shape, QUICK_SPANS if quick else SPANS)
        most = drain(up, RUN, JOBS, messages, messages * shape.message_spans).spans_per_s
        print(f"all jobs take {most:,.0f} spans/s", file=sys.stderr, flush=True)
        samples = list(_soaked(up, replace(shape, spans_per_s=most / 2), seconds))
    plot_series(
        OUT / "soak.png",
        f"All streaming jobs at {most / 2:,.0f} spans/s",
        [sample.at_s for sample in samples],
        {
            "resident (MiB)": [sample.resident_bytes / MIB for sample in samples],
            "heap after GC (MiB)": [(sample.heap_bytes or 0) / MIB for sample in samples],
            "records waiting": [sample.waiting for sample in samples],
            "checkpoint (ms)": [sample.checkpoint_ms for sample in samples],
            "state (MiB)": [sample.state_bytes / MIB for sample in samples],
        },
    )
    rows = [
        ("all jobs drain a full topic at", f"{most:,.0f} spans/s"),
        ("sent, half of it", f"{most / 2:,.0f} spans/s"),
    ]
    rows += summary(samples)
    rows.append(("CPU of the TaskManager at that rate", _cpu(samples, most / 2)))
    lines = [f"| {what} | {figure} |" for what, figure in rows]
    return "\n".join(["| what | measured |", "|---|---|", *lines, "", "![soak](soak.png)", ""])


def _soaked(up: Cluster, shape: Shape, seconds: float) -> Iterator[Sample]:
    up.fresh_taskmanager()
    spans_topic.renew(up.kafka, **spans_topic.BROKERS_TIME, **KEPT)
    job = up.submit(RUN, *JOBS)
    process, log = up.taskmanager(), Path(up.addresses["SLUICE_STATE"]) / "gc.log"
    heap_log.begin(process, log)
    sending = threading.Thread(target=spans_topic.trickle, args=(up.kafka, shape, seconds))
    begun = time.monotonic()
    sending.start()
    for number in range(1, int(seconds / EVERY_S) + 1):
        time.sleep(max(0.0, begun + number * EVERY_S - time.monotonic()))
        if up.taskmanager() != process or up.restarts(job):
            raise RuntimeError(f"the job failed after {time.monotonic() - begun:.0f} s")
        checkpoint = up.checkpoint(job)
        up.consumed(job)
        time.sleep(FETCH_S)
        yield Sample(
            time.monotonic() - begun,
            cpu_s(process),
            resident_bytes(process),
            heap_log.after_newest(log.read_text()),
            max(0, spans_topic.end(up.kafka) - up.consumed(job)),
            checkpoint.took_ms,
            checkpoint.state_bytes,
            checkpoint.completed,
            checkpoint.failed,
        )
    sending.join()
    up.cancel(job)


def summary(samples: Sequence[Sample]) -> list[tuple[str, str]]:
    """Rows: of the last two thirds of the time the medians and the slopes, by least squares, in an hour."""
    last = _last(samples)
    heap = [sample for sample in last if sample.heap_bytes is not None]
    waiting = [sample.waiting for sample in last]
    return [
        ("time, and how much of it counts below", f"{samples[-1].at_s:.0f} s, the last {100 * (1 - WARM):.0f} %"),
        ("resident memory of the TaskManager", _memory(last, [s.resident_bytes for s in last])),
        ("its heap after a collection", _memory(heap, [s.heap_bytes or 0 for s in heap])),
        ("records that wait", f"{_middle(waiting)}, {slope_an_hour(last, waiting):+z,.0f} an hour"),
        ("a checkpoint takes", f"{_middle([s.checkpoint_ms for s in last])} ms"),
        ("its state", _memory(last, [s.state_bytes for s in last])),
        ("checkpoints complete, failed", f"{samples[-1].completed:,}, {samples[-1].failed:,}"),
    ]


def _cpu(samples: Sequence[Sample], spans_per_s: float) -> str:
    last = _last(samples)
    share = (last[-1].cpu_s - last[0].cpu_s) / (last[-1].at_s - last[0].at_s)
    return f"{share:.2f} of a core, {1e6 * share / spans_per_s:.2f} us a span"


def _last(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.at_s > WARM * samples[-1].at_s]


def slope_an_hour(samples: Sequence[Sample], values: Sequence[float]) -> float:
    """Of `values`, beside `samples`; nan of fewer than two."""
    if len(samples) < 2:
        return float("nan")
    return float(np.polyfit([sample.at_s / 3600 for sample in samples], values, 1)[0])


def _memory(samples: Sequence[Sample], values: Sequence[int]) -> str:
    if not values:
        return "not seen"
    grows = slope_an_hour(samples, values) / MIB
    return f"{_middle([round(value / MIB) for value in values])} MiB, {grows:+z,.0f} MiB an hour"


def _middle(values: Sequence[int]) -> str:
    return f"median {statistics.median(values):,.0f}, most {max(values):,}"
