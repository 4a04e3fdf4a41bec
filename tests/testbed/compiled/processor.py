"""The CPU of ``cpu.Cpu`` inside a kernel: processor sharing on a virtual clock, to the same last bit."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cpu import total_rate
from ..laws import Cliff
from . import heap
from .jit import compiled

Cpu = Any
"""A record of ``cpu_of(threads)``, with its fields as attributes inside a kernel."""


def cpu_of(threads: int) -> np.dtype[np.void]:
    """With room for so many runnable threads."""
    return np.dtype(
        [
            ("cores", np.float64),
            ("virtual", np.float64),
            ("since", np.float64),
            ("core_seconds", np.float64),
            ("stands", np.bool_),
            ("ready_time", np.float64),  # when the first job is done; infinite where there is none
            ("ready_order", np.int64),
            ("rates", np.float64, (threads + 1,)),  # work per second of each of n threads
            ("jobs", heap.ENTRY, (threads + 1,)),  # by the reading of the virtual clock at which they end
        ],
        align=True,
    )


def build(cpu: Cpu, cores: float, rates: NDArray[np.float64], now: float = 0.0) -> None:
    """Idle, in a record of zeros; ``rates`` of as many threads as there will be."""
    cpu["cores"], cpu["since"], cpu["ready_time"] = cores, now, math.inf
    cpu["rates"][: len(rates)] = rates


def rates(threads: int, cores: float, contention: float, crosstalk: float, cliff: Cliff | None) -> NDArray[np.float64]:
    """Work done per second of time by each of 0, 1, ... threads, beyond a cliff too."""

    def rate(n: int) -> float:
        total = total_rate(n, cores, contention, crosstalk)
        return (total * cliff.share(n) if cliff else total) / n

    return np.array([0.0, *(rate(n) for n in range(1, threads + 1))])


def used(cpu: Cpu, now: float) -> float:
    """Seconds of cores occupied since the start; looking changes nothing (``cpu.Cpu.used``)."""
    if cpu["stands"]:
        return float(cpu["core_seconds"])
    return float(cpu["core_seconds"] + (now - cpu["since"]) * min(float(cpu["jobs"][0]["order"]), cpu["cores"]))


@compiled
def ready(cpu: Cpu, now: float, order: int, work: float, who: int) -> None:
    """Makes a thread runnable with ``work`` seconds of work on a free core."""
    bring_up(cpu, now)
    heap.push(cpu.jobs, cpu.virtual + work, order, who)
    _schedule(cpu, now, order)


@compiled
def finish(cpu: Cpu, now: float, order: int) -> int:
    """The first job is done; returns whose it was."""
    bring_up(cpu, now)
    cpu.virtual = cpu.jobs[1].time
    who = cpu.jobs[1].who
    heap.pop(cpu.jobs)
    _schedule(cpu, now, order)
    return who  # type: ignore[no-any-return]


@compiled
def stop(cpu: Cpu, now: float) -> None:
    bring_up(cpu, now)
    cpu.stands = True
    cpu.ready_time = math.inf


@compiled
def go(cpu: Cpu, now: float, order: int) -> None:
    bring_up(cpu, now)
    cpu.stands = False
    _schedule(cpu, now, order)


@compiled
def change(cpu: Cpu, now: float, order: int, cores: float) -> None:
    """Another CPU limit: after ``bring_up`` and once ``cpu.rates`` holds its rates."""
    cpu.cores = cores
    _schedule(cpu, now, order)


@compiled
def bring_up(cpu: Cpu, now: float) -> None:
    """Work done, and cores used, up to now."""
    n = cpu.jobs[0].order
    if n:
        elapsed = 0.0 if cpu.stands else now - cpu.since
        cpu.virtual += elapsed * cpu.rates[n]
        cpu.core_seconds += elapsed * min(float(n), cpu.cores)
    else:
        cpu.virtual = 0.0
    cpu.since = now


@compiled
def _schedule(cpu: Cpu, now: float, order: int) -> None:
    n = cpu.jobs[0].order
    if n and not cpu.stands:
        cpu.ready_order = order
        cpu.ready_time = now + max(0.0, cpu.jobs[1].time - cpu.virtual) / cpu.rates[n]
    else:
        cpu.ready_time = math.inf
