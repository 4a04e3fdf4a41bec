"""1,000 pools with an agent each in one decider, in real time: its periods, the process that trains, and how old what
agents say is.

The loop and the process that trains are the product's; windows, sizes and the log are in memory. The decider begins
with ten minutes that were recorded before it; once agents have learnt those, each period brings a period's windows of
each pool, and is counted. CPU times hold on a machine that does other work too; ages and periods are of its clock.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.loop_scale.windows import BUCKET_MS, CURVES, DELAY_MS, Drawn, draw
from memory_log import MemoryLog
from sluice.clocks.offsets import Instance
from sluice.collect import Measured, Window
from sluice.collect.window import OnDemand
from sluice.config import Config
from sluice.control.deciding import Means
from sluice.control.learning import agents
from sluice.control.learning.learners import Learners, _begin
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.estimate.samples import Samples
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.learn.condition import DataSize

PERIOD_S, WINDOW_S = 5, 60
LEAST = 5
"""Periods that are counted at least."""
Rows = list[tuple[str, str]]


@dataclass
class Held:
    """Stands in for the collector: what pools do is in memory, and made into windows when it is asked for."""

    drawn: list[Drawn]

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        return {}

    def demand(self, config: Config, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        return {}

    def data_sizes(self, config: Config, now_ms: int) -> dict[PoolKey, DataSize]:
        return {}

    def clocks(self, config: Config, now_ms: int) -> Mapping[Instance, int]:
        return {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        return Window(
            OnDemand(numbers, lambda number: judged(self.drawn[number % CURVES], now_ms)),
            OnDemand(numbers, lambda number: self.drawn[number % CURVES].last(now_ms)),
        )


def judged(of: Drawn, now_ms: int) -> Measured:
    """Its newest minute, as its callers see it."""
    end = (now_ms - DELAY_MS) // BUCKET_MS
    at = np.arange(end - WINDOW_S * 1000 // BUCKET_MS, end)
    samples = of.samples.take(at % len(of.samples.concurrency))
    in_flight = np.maximum(samples.concurrency, 1e-3)
    taken = Samples(
        in_flight, samples.goodput_per_s, samples.completions * 1_000.0 / BUCKET_MS, samples.completions,
        np.full(len(at), np.nan), 1, True, in_system=in_flight,
    )  # fmt: skip
    return Measured(taken, (at * BUCKET_MS).astype(np.int64), BUCKET_MS)


@contextmanager
def learners(learnt: bool) -> Iterator[Learners]:
    """learnt: whose agents are all past the time in which they train for all that comes."""
    found = Learners()
    context = multiprocessing.get_context("forkserver")
    found._executor = ProcessPoolExecutor(1, mp_context=context, initializer=_learnt if learnt else _begin)
    try:
        yield found
    finally:
        found.close()


def _learnt() -> None:
    _begin()
    agents.LEARNING = 0


def measure(pools: int, seconds: float, learnt: bool) -> Rows:
    drawn = draw()
    what = f"{pools:,} pools {'that have learnt' if learnt else 'that learn all that comes'}"
    with TemporaryDirectory() as directory, learners(learnt) as teaching:
        given = [
            {"service": f"service-{i:04}", "side": "server", "threshold": "100ms", "model": "dqn",
             "bounds": {"min": 1, "max": 200}}
            for i in range(pools)
        ]  # fmt: skip
        config = Config.model_validate({"pools": given, "learning": {"directory": directory}, "period": f"{PERIOD_S}s"})
        log = MemoryLog()
        loop = log.loop(config, Held(drawn), _now_ms, Means(learners=teaching))
        begun = next_s = from_s = time.monotonic()
        spent: list[float] = []
        own_cpu: list[float] = []
        from_cpu = 0.0
        history_s: float | None = None
        # On a busy machine it goes on until there is something to tell.
        while history_s is None or time.monotonic() - from_s < seconds or len(spent) < LEAST:
            for i, pool in enumerate(config.pools):
                log.size(pool.key, drawn[i % CURVES].size, _now_ms(), pool.key.service)
            loop.hear()
            at, cpu = time.perf_counter(), time.process_time()
            loop.periods()
            if history_s is not None:
                spent.append(time.perf_counter() - at)
                own_cpu.append(time.process_time() - cpu)
            next_s = max(next_s + PERIOD_S, time.monotonic())
            time.sleep(max(0.0, next_s - time.monotonic()))
            if history_s is None and _lots(teaching) <= 1 and len(teaching.known) == pools:
                from_cpu, from_s = _cpu_s(teaching), time.monotonic()
                history_s = from_s - begun
                print(f"{what}: {history_s:.0f} s for what was recorded before", flush=True)
        lasted, trained = time.monotonic() - from_s, _cpu_s(teaching) - from_cpu
        ages = [(_now_ms() - each.opinion.until_ms) / 1e3 for each in teaching.known.values()]
        steps = [each.opinion.steps for each in teaching.known.values()]
        files = sum(1 for _ in Path(directory).glob("*.dqn"))
        memory_mb = _resident_mb(teaching)
    return [
        (f"**{what}**, {seconds:.0f} s, a period each {PERIOD_S} s", ""),
        ("before that: until all knew the ten minutes from before the decider", f"{history_s:.0f} s"),
        ("CPU time of a period of the decider, median and most", f"{_both(own_cpu)} s"),
        ("a period by the clock, median and most", f"{_both(spent)} s"),
        ("cores that the process that trains has", f"{trained / lasted:.2f}"),
        ("cores, both", f"{trained / lasted + float(np.mean(own_cpu)) / PERIOD_S:.2f}"),
        ("age of the newest second that an agent knows, median and most", f"{_both(ages)} s"),
        ("gradient steps of an agent, median", f"{np.median(steps):,.0f}"),
        ("memory of the process that trains", f"{memory_mb:,.0f} MB"),
        ("checkpoints written", f"{files:,}"),
    ]


def report(pools: int = 1_000, seconds: float = 120.0) -> Rows:
    return [row for learnt in (False, True) for row in measure(pools, seconds, learnt)]


def _both(values: list[float]) -> str:
    return f"{np.median(values):.2f}, {max(values):.2f}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _lots(teaching: Learners) -> int:
    """Lessons of all pools that were handed over together and are not done."""
    teaching.under_way()
    return len(teaching._tasks)


def _pid(teaching: Learners) -> int:
    assert teaching._executor is not None, "the process that trains died"
    (pid,) = teaching._executor._processes
    return pid


def _cpu_s(teaching: Learners) -> float:
    user, system = Path(f"/proc/{_pid(teaching)}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _resident_mb(teaching: Learners) -> float:
    lines = Path(f"/proc/{_pid(teaching)}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1e3
