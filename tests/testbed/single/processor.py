"""The CPU of ``cpu.Cpu`` inside the kernel: processor sharing on a virtual clock, to the same last bit."""

import math

from . import heap
from .jit import compiled
from .memory import Memory


@compiled
def ready(m: Memory, work: float, who: int) -> None:
    """Makes a thread runnable with ``work`` seconds of work on a free core."""
    bring_up(m)
    m.order += 1
    heap.push(m.jobs, m.virtual + work, m.order, who)
    _schedule(m)


@compiled
def finish(m: Memory) -> int:
    """The first job is done; returns whose it was."""
    bring_up(m)
    m.virtual = m.jobs[1].time
    who = m.jobs[1].who
    heap.pop(m.jobs)
    _schedule(m)
    return who  # type: ignore[no-any-return]


@compiled
def stop(m: Memory) -> None:
    bring_up(m)
    m.stands = True
    m.ready_time = math.inf


@compiled
def go(m: Memory) -> None:
    bring_up(m)
    m.stands = False
    _schedule(m)


@compiled
def change(m: Memory, cores: float) -> None:
    """Another CPU limit: after ``bring_up`` and once ``m.rates`` holds its rates."""
    m.cores = cores
    _schedule(m)


@compiled
def bring_up(m: Memory) -> None:
    """Work done, and cores used, up to now."""
    n = m.jobs[0].order
    if n:
        elapsed = 0.0 if m.stands else m.now - m.since
        m.virtual += elapsed * m.rates[n]
        m.core_seconds += elapsed * min(float(n), m.cores)
    else:
        m.virtual = 0.0
    m.since = m.now


@compiled
def _schedule(m: Memory) -> None:
    n = m.jobs[0].order
    if n and not m.stands:
        m.order += 1
        m.ready_order = m.order
        m.ready_time = m.now + max(0.0, m.jobs[1].time - m.virtual) / m.rates[n]
    else:
        m.ready_time = math.inf
