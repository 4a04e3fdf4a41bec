"""Containers as processor-sharing servers inside the kernel, and which of them is ready first.

Work is counted on a virtual clock: how much each visit has had. A segment ends when the clock has moved on by its work.
"""

import math

from ..compiled import heap
from ..compiled.jit import compiled
from .memory import Memory


@compiled
def bring_up(m: Memory, c: int, now: float) -> None:
    """Work done up to now."""
    container = m.containers[c]
    n = m.jobs[c, 0].order
    if n:
        elapsed = now - container.since
        container.virtual += elapsed * container.speed / n
        container.busy += elapsed
    else:
        container.virtual = 0.0
    container.since = now


@compiled
def schedule(m: Memory, c: int, now: float) -> None:
    container = m.containers[c]
    n = m.jobs[c, 0].order
    if n and container.speed > 0.0:
        container.ready = now + max(0.0, m.jobs[c, 1].time - container.virtual) * n / container.speed
    else:
        container.ready = math.inf
    at = (m.tree.shape[0] // 2 + c) >> 1
    while at:
        left, right = m.tree[2 * at], m.tree[2 * at + 1]
        m.tree[at] = right if m.containers[right].ready < m.containers[left].ready else left
        at >>= 1


@compiled
def enter(m: Memory, c: int, now: float, work: float, who: int) -> None:
    """There must be room."""
    bring_up(m, c, now)
    state = m.state[0]
    state.order += 1
    heap.push(m.jobs[c], m.containers[c].virtual + work, state.order, who)
    schedule(m, c, now)


@compiled
def leave(m: Memory, c: int, now: float) -> int:
    """The first segment is done; returns whose it was."""
    bring_up(m, c, now)
    m.containers[c].virtual = m.jobs[c, 1].time
    who = m.jobs[c, 1].who
    heap.pop(m.jobs[c])
    schedule(m, c, now)
    return who  # type: ignore[no-any-return]


@compiled
def change(m: Memory, now: float, speeds: object, count: int) -> None:
    """Other speeds of the first ``count`` containers, from now on."""
    for c in range(count):
        bring_up(m, c, now)
        m.containers[c].speed = speeds[c]  # type: ignore[index]
        schedule(m, c, now)
