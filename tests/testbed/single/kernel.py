"""The compiled engine: one event after the other, in the order of ``engine.Engine``.

An event is the first of what could happen next: a user's think time ends, a wait ends, the CPU finishes a job, the
lock is given back, a pause begins or ends, or users are counted anew. Everything is scheduled with an order that
grows, as in the plain engine, and of two things at one time the one scheduled first comes first.
"""

import math

from ..compiled import draws, heap, ring
from ..compiled.jit import compiled
from ..compiled.processor import finish, go, ready, stop
from ..users import REFRESH
from .memory import NEVER, QUEUE_LIMIT, ROWS, Memory

PAUSE_EVERY_S = 1.0

COUNT, THOUGHT, WAITED, COMPUTED, RELEASED, PAUSED, RESUMED = range(7)
COMPUTE, HOLD, WAIT, CALL, CALLED = range(5)
"""The steps of a request; each number is that of the one to start next."""


@compiled
def advance(m: Memory, until: float) -> bool:
    """Lets everything up to and including ``until`` (s) happen; False: first the rows must be read."""
    while m.recorded < ROWS:
        if ring.length(m.stopped) and not m.cpu.stands:
            proceed(m, ring.leave(m.stopped))
            continue
        what, time, order = COUNT, m.refresh_time, m.refresh_order
        if m.thinking[0].order and earlier(m.thinking[1].time, m.thinking[1].order, time, order):
            what, time, order = THOUGHT, m.thinking[1].time, m.thinking[1].order
        if m.waiting[0].order and earlier(m.waiting[1].time, m.waiting[1].order, time, order):
            what, time, order = WAITED, m.waiting[1].time, m.waiting[1].order
        if earlier(m.cpu.ready_time, m.cpu.ready_order, time, order):
            what, time, order = COMPUTED, m.cpu.ready_time, m.cpu.ready_order
        if earlier(m.release_time, m.release_order, time, order):
            what, time, order = RELEASED, m.release_time, m.release_order
        if earlier(m.pause_time, m.pause_order, time, order):
            what, time, order = PAUSED, m.pause_time, m.pause_order
        if earlier(m.resume_time, m.resume_order, time, order):
            what, time, order = RESUMED, m.resume_time, m.resume_order
        if time > until:
            m.now = until
            return True
        m.now = time
        if what == THOUGHT:
            heap.pop(m.thinking)
            _thought(m)
        elif what == COMPUTED:
            m.order += 1
            proceed(m, finish(m.cpu, m.now, m.order))
        elif what == WAITED:
            proceed(m, _waited(m))
        elif what == RELEASED:
            proceed(m, _release(m))
        elif what == COUNT:
            _count_users(m)
        elif what == PAUSED:
            _pause(m)
        else:
            _resume(m)
    return False


@compiled
def _waited(m: Memory) -> int:
    who = m.waiting[1].who
    heap.pop(m.waiting)
    if m.requests[who].step == CALLED:
        _slot_free(m)
    return who  # type: ignore[no-any-return]


@compiled
def resize(m: Memory, size: int) -> None:
    """As ``pool.Pool.resize``."""
    m.size = size
    while ring.length(m.queue) and m.in_use < size:
        m.in_use += 1
        _begin(m, ring.leave(m.queue))


@compiled
def earlier(time: float, order: int, than_time: float, than_order: int) -> bool:
    return time < than_time or (time == than_time and order < than_order)


@compiled
def _count_users(m: Memory) -> None:
    m.wanted = m.shape[m.refreshes]
    while m.present < m.wanted:
        m.present += 1
        _think(m)
    m.refreshes += 1
    m.order += 1
    m.refresh_order = m.order
    m.refresh_time = m.now + REFRESH


@compiled
def _think(m: Memory) -> None:
    m.order += 1
    heap.push(m.thinking, m.now + draws.exponential(m.think, m.think_rate), m.order, 0)


@compiled
def _thought(m: Memory) -> None:
    """A user goes, where there are too many, or sends a request, which may be turned away at the queue."""
    if m.present > m.wanted:
        m.present -= 1
        return
    if m.in_use >= m.size and ring.length(m.queue) >= QUEUE_LIMIT:
        _record(m, m.now, -1.0)
        _think(m)
        return
    who = ring.leave(m.free)
    m.requests[who].arrived = m.now
    if m.in_use < m.size:
        m.in_use += 1
        _begin(m, who)
    else:
        ring.enter(m.queue, who)


@compiled
def _begin(m: Memory, who: int) -> None:
    m.requests[who].begun = m.now
    m.requests[who].step = COMPUTE
    if m.cpu.stands:
        ring.enter(m.stopped, who)
    else:
        _compute(m, who)


@compiled
def proceed(m: Memory, who: int) -> None:
    """Starts the next step of a request, or ends it."""
    if m.cpu.stands:
        ring.enter(m.stopped, who)
        return
    step = m.requests[who].step
    if step == HOLD and not m.locks:
        step = WAIT
    if step == WAIT and m.wait_mu == NEVER:
        step = CALL
    if step == CALL and m.slots == 0:
        step = CALLED
    m.requests[who].step = step + 1
    if step == COMPUTE:
        _compute(m, who)
    elif step == HOLD:
        if m.holder < 0:
            _hold(m, who)
        else:
            ring.enter(m.behind, who)
    elif step == WAIT:
        m.order += 1
        time = draws.log_normal(m.wait, m.wait_mu, m.sigma) * m.wait_factor
        heap.push(m.waiting, m.now + time, m.order, who)
    elif step == CALL:
        if m.slots_in_use < m.slots:
            m.slots_in_use += 1
            _call(m, who)
        else:
            ring.enter(m.before, who)
    else:
        _respond(m, who)


@compiled
def _compute(m: Memory, who: int) -> None:
    m.requests[who].step = HOLD
    m.order += 1
    work = draws.log_normal(m.compute, m.compute_mu, m.sigma) * m.compute_factor
    ready(m.cpu, m.now, m.order, work, who)


@compiled
def _hold(m: Memory, who: int) -> None:
    m.holder = who
    m.order += 1
    m.release_order = m.order
    m.release_time = m.now + m.holds[ring.length(m.behind)]


@compiled
def _release(m: Memory) -> int:
    who = m.holder
    if ring.length(m.behind):
        _hold(m, ring.leave(m.behind))
    else:
        m.holder = -1
        m.release_time = math.inf
    return who  # type: ignore[no-any-return]


@compiled
def _call(m: Memory, who: int) -> None:
    m.order += 1
    heap.push(m.waiting, m.now + draws.log_normal(m.call, m.call_mu, m.sigma), m.order, who)


@compiled
def _slot_free(m: Memory) -> None:
    if ring.length(m.before):
        _call(m, ring.leave(m.before))
    else:
        m.slots_in_use -= 1


@compiled
def _respond(m: Memory, who: int) -> None:
    """The thread goes to the first in the queue, unless the pool has shrunk; the user thinks again."""
    _record(m, m.requests[who].arrived, m.requests[who].begun)
    ring.enter(m.free, who)
    if ring.length(m.queue) and m.in_use <= m.size:
        _begin(m, ring.leave(m.queue))
    else:
        m.in_use -= 1
    _think(m)


@compiled
def _record(m: Memory, arrived: float, begun: float) -> None:
    row = m.recorded
    m.rows[row, 0], m.rows[row, 1], m.rows[row, 2] = arrived, begun, m.now
    m.recorded = row + 1


@compiled
def _pause(m: Memory) -> None:
    m.order += 1
    m.pause_time, m.pause_order = m.now + PAUSE_EVERY_S, m.order
    if m.in_use:
        stop(m.cpu, m.now)
        m.order += 1
        m.resume_time, m.resume_order = m.now + m.pauses[m.in_use], m.order


@compiled
def _resume(m: Memory) -> None:
    m.resume_time = math.inf
    m.order += 1
    go(m.cpu, m.now, m.order)
