"""The engine: one event after the other, in the order of ``engine.Engine``.

An event is the first of what could happen next: a user's think time ends, a wait ends, a CPU finishes a job, the lock
is given back, a pause begins or ends, or users are counted anew. Everything is scheduled with an order that grows, and
of two things at one time the one scheduled first comes first.
"""

import math

from ..compiled import draws, heap, ring
from ..compiled.jit import compiled
from ..compiled.processor import finish, go, ready, stop
from ..users import REFRESH
from .limits import MOST_TIERS, QUEUE_LIMIT
from .memory import NEVER, ROWS, Memory

PAUSE_EVERY_S = 1.0

COUNT, THOUGHT, WAITED, COMPUTED, RELEASED, PAUSED, RESUMED = range(7)
COMPUTE, HOLD, WAIT, CALL, ANSWER = range(5)
"""The steps of a request in a tier."""


@compiled
def advance(m: Memory, until: float) -> bool:
    """Lets everything up to and including ``until`` (s) happen; False: first the rows must be read."""
    while m.recorded < ROWS:
        if ring.length(m.stopped) and not m.cpus[0, 0].stands:
            proceed(m, ring.leave(m.stopped))
            continue
        what, time, order, tier, at = COUNT, m.refresh_time, m.refresh_order, 0, 0
        if m.thinking[0].order and earlier(m.thinking[1].time, m.thinking[1].order, time, order):
            what, time, order = THOUGHT, m.thinking[1].time, m.thinking[1].order
        if m.waiting[0].order and earlier(m.waiting[1].time, m.waiting[1].order, time, order):
            what, time, order = WAITED, m.waiting[1].time, m.waiting[1].order
        for t in range(m.depth):
            for i in range(m.built if t == m.replicated else 1):
                cpu = m.cpus[t, i]
                if earlier(cpu.ready_time, cpu.ready_order, time, order):
                    what, time, order, tier, at = COMPUTED, cpu.ready_time, cpu.ready_order, t, i
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
            proceed(m, finish(m.cpus[tier, at], m.now, m.order))
        elif what == WAITED:
            who = m.waiting[1].who
            heap.pop(m.waiting)
            proceed(m, who)
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
def resize(m: Memory, tier: int, size: int) -> None:
    """The gates of the instances in rotation before the replicated tier or the next (as ``pool.Pool.resize``)."""
    for i in range(m.rotating):
        gate = m.gates[tier, m.rotation[i]]
        gate.size = size
        while ring.length(gate.queue) and gate.in_use < size:
            gate.in_use += 1
            _begin(m, ring.leave(gate.queue), tier)


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
    """A user goes, where there are too many, or sends a request, for which the first tier may have no room before its
    gate."""
    if m.present > m.wanted:
        m.present -= 1
        return
    m.unused -= 1
    who = m.free[m.unused]
    request = m.requests[who]
    request.arrived = m.now
    request.instance = 0 if m.replicated else _turn(m)
    request.waits = -1.0
    for t in range(MOST_TIERS):
        request.begun[t] = -1.0
    gate = m.gates[0, request.instance]
    if gate.in_use < gate.size:
        gate.in_use += 1
        _begin(m, who, 0)
    elif ring.length(gate.queue) < QUEUE_LIMIT:
        ring.enter(gate.queue, who)
    else:
        _record(m, who)
        _think(m)


@compiled
def _turn(m: Memory) -> int:
    """The next instance in rotation."""
    turn = m.turn if m.turn < m.rotating else 0
    m.turn = turn + 1
    return m.rotation[turn]  # type: ignore[no-any-return]


@compiled
def _place(m: Memory, who: int, tier: int) -> int:
    """In which instance of the tier a request is."""
    return m.requests[who].instance if tier == m.replicated else 0


@compiled
def _entry(m: Memory, who: int, tier: int) -> int:
    """Before which gate of the tier it stands: each instance calls through its own."""
    return m.requests[who].instance if m.replicated <= tier <= m.replicated + 1 else 0


@compiled
def _begin(m: Memory, who: int, tier: int) -> None:
    """It has passed the tier's gate."""
    request = m.requests[who]
    request.tier = tier
    request.begun[tier] = m.now
    request.step = COMPUTE
    if m.cpus[tier, _place(m, who, tier)].stands:
        ring.enter(m.stopped, who)
    else:
        _start(m, who)


@compiled
def _start(m: Memory, who: int) -> None:
    """It computes, or waits, where it has nothing to compute in this tier."""
    request = m.requests[who]
    tier = m.tiers[request.tier]
    if tier.compute_mu == NEVER:
        _wait(m, who)
        return
    request.step = HOLD
    m.order += 1
    work = draws.log_normal(tier.compute, tier.compute_mu, m.sigma) * tier.compute_factor
    if m.long_share > 0.0 and request.tier == 0 and draws.uniform(m.kinds) < m.long_share:
        work *= m.longer[m.gates[0, request.instance].in_use]
    ready(m.cpus[request.tier, _place(m, who, request.tier)], m.now, m.order, work, who)


@compiled
def _wait(m: Memory, who: int) -> None:
    request = m.requests[who]
    tier = m.tiers[request.tier]
    request.step = CALL
    if request.tier == 0:
        request.waits = m.now
    m.order += 1
    time = draws.log_normal(tier.wait, tier.wait_mu, m.sigma) * tier.wait_factor
    heap.push(m.waiting, m.now + time, m.order, who)


@compiled
def proceed(m: Memory, who: int) -> None:
    """Starts the next step of a request, or ends it in a tier and goes on in who called that."""
    request = m.requests[who]
    while True:
        tier = request.tier
        if m.cpus[tier, _place(m, who, tier)].stands:
            ring.enter(m.stopped, who)
            return
        if request.step == COMPUTE:
            _start(m, who)
            return
        if request.step == HOLD:
            request.step = WAIT
            if m.locks and tier == 0:
                if m.holder < 0:
                    _hold(m, who)
                else:
                    ring.enter(m.behind, who)
                return
        if request.step == WAIT:
            request.step = CALL
            if m.tiers[tier].wait_mu != NEVER:
                _wait(m, who)
                return
        if request.step == CALL:
            request.step = ANSWER
            if tier + 1 < m.depth:
                _call(m, who, tier + 1)
                return
        if tier == 0:
            _respond(m, who)
            return
        _leave(m, who, tier)
        request.tier = tier - 1


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
def _call(m: Memory, who: int, tier: int) -> None:
    """Passes the caller's gate to the tier, or waits before it; of its instances it goes to that whose turn it is."""
    if tier == m.replicated:
        m.requests[who].instance = _turn(m)
        m.requests[who].waits = m.now
    gate = m.gates[tier, _entry(m, who, tier)]
    if gate.in_use < gate.size:
        gate.in_use += 1
        _begin(m, who, tier)
    else:
        ring.enter(gate.queue, who)


@compiled
def _leave(m: Memory, who: int, tier: int) -> None:
    """Its place goes to the first in the queue, unless the gate has shrunk."""
    gate = m.gates[tier, _entry(m, who, tier)]
    if ring.length(gate.queue) and gate.in_use <= gate.size:
        _begin(m, ring.leave(gate.queue), tier)
    else:
        gate.in_use -= 1


@compiled
def _respond(m: Memory, who: int) -> None:
    """The user thinks again."""
    _record(m, who)
    _leave(m, who, 0)
    _think(m)


@compiled
def _record(m: Memory, who: int) -> None:
    request, row = m.requests[who], m.recorded
    m.rows[row, 0], m.rows[row, 1], m.rows[row, 2] = request.arrived, request.begun[0], m.now
    m.rows[row, 3] = request.instance
    for t in range(1, MOST_TIERS):
        m.rows[row, 3 + t] = request.begun[t]
    m.rows[row, 3 + MOST_TIERS] = request.waits
    m.recorded = row + 1
    m.free[m.unused] = who
    m.unused += 1


@compiled
def _pause(m: Memory) -> None:
    m.order += 1
    m.pause_time, m.pause_order = m.now + PAUSE_EVERY_S, m.order
    if m.gates[0, 0].in_use:
        stop(m.cpus[0, 0], m.now)
        m.order += 1
        m.resume_time, m.resume_order = m.now + m.pauses[m.gates[0, 0].in_use], m.order


@compiled
def _resume(m: Memory) -> None:
    m.resume_time = math.inf
    m.order += 1
    go(m.cpus[0, 0], m.now, m.order)
