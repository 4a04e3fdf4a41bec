"""The compiled engine of a path (as ``single.kernel``): whichever of a few things happens first, happens next."""

from ..compiled import draws, heap, processor, ring
from ..compiled.jit import compiled
from ..users import REFRESH
from .memory import QUEUE_LIMIT, ROWS, Memory

COUNT, THOUGHT, WAITED, ANSWERING, COMPUTED = range(5)


@compiled
def advance(m: Memory, until: float) -> bool:
    """Lets everything up to and including ``until`` (s) happen; False: first the rows must be read."""
    while m.recorded < ROWS:
        what, time, order, which = COUNT, m.refresh_time, m.refresh_order, 0
        if m.thinking[0].order and earlier(m.thinking[1].time, m.thinking[1].order, time, order):
            what, time, order = THOUGHT, m.thinking[1].time, m.thinking[1].order
        if m.waiting[0].order and earlier(m.waiting[1].time, m.waiting[1].order, time, order):
            what, time, order = WAITED, m.waiting[1].time, m.waiting[1].order
        if earlier(m.callee.ready_time, m.callee.ready_order, time, order):
            what, time, order = ANSWERING, m.callee.ready_time, m.callee.ready_order
        for i in range(m.built):
            cpu = m.instances[i].cpu
            if earlier(cpu.ready_time, cpu.ready_order, time, order):
                what, time, order, which = COMPUTED, cpu.ready_time, cpu.ready_order, i
        if time > until:
            m.now = until
            return True
        m.now = time
        m.order += 1
        if what == THOUGHT:
            heap.pop(m.thinking)
            _thought(m)
        elif what == COMPUTED:
            _computed(m, processor.finish(m.instances[which].cpu, time, m.order))
        elif what == ANSWERING:
            _answering(m, processor.finish(m.callee, time, m.order))
        elif what == WAITED:
            who = m.waiting[1].who
            heap.pop(m.waiting)
            _respond(m, who)
        else:
            _count_users(m)
    return False


@compiled
def resize_threads(m: Memory, size: int) -> None:
    for i in range(m.rotating):
        instance = m.instances[m.rotation[i]]
        instance.threads = size
        while ring.length(instance.queue) and instance.threads_in_use < size:
            instance.threads_in_use += 1
            _begin(m, ring.leave(instance.queue))


@compiled
def resize_connections(m: Memory, size: int) -> None:
    for i in range(m.rotating):
        instance = m.instances[m.rotation[i]]
        instance.connections = size
        while ring.length(instance.behind) and instance.connections_in_use < size:
            instance.connections_in_use += 1
            _connect(m, ring.leave(instance.behind))


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
    """A user goes, where there are too many, or sends a request to the replica whose turn it is."""
    if m.present > m.wanted:
        m.present -= 1
        return
    turn = m.turn if m.turn < m.rotating else 0
    m.turn = turn + 1
    to = m.rotation[turn]
    instance = m.instances[to]
    if instance.threads_in_use >= instance.threads and ring.length(instance.queue) >= QUEUE_LIMIT:
        _record(m, m.now, -1.0, -1.0, to)
        _think(m)
        return
    who = ring.leave(m.free)
    m.requests[who].arrived = m.now
    m.requests[who].instance = to
    if instance.threads_in_use < instance.threads:
        instance.threads_in_use += 1
        _begin(m, who)
    else:
        ring.enter(instance.queue, who)


@compiled
def _begin(m: Memory, who: int) -> None:
    m.requests[who].begun = m.now
    m.order += 1
    work = draws.log_normal(m.caller_compute, m.caller_mu, m.sigma)
    processor.ready(m.instances[m.requests[who].instance].cpu, m.now, m.order, work, who)


@compiled
def _computed(m: Memory, who: int) -> None:
    instance = m.instances[m.requests[who].instance]
    if instance.connections_in_use < instance.connections:
        instance.connections_in_use += 1
        _connect(m, who)
    else:
        ring.enter(instance.behind, who)


@compiled
def _connect(m: Memory, who: int) -> None:
    m.requests[who].connected = m.now
    m.order += 1
    work = draws.log_normal(m.callee_compute, m.callee_mu, m.sigma)
    processor.ready(m.callee, m.now, m.order, work, who)


@compiled
def _answering(m: Memory, who: int) -> None:
    m.order += 1
    heap.push(m.waiting, m.now + draws.log_normal(m.wait, m.wait_mu, m.sigma), m.order, who)


@compiled
def _respond(m: Memory, who: int) -> None:
    """Connection and thread go to the first that wait for them, unless the pool has shrunk; the user thinks again."""
    of = m.requests[who].instance
    instance = m.instances[of]
    if ring.length(instance.behind) and instance.connections_in_use <= instance.connections:
        _connect(m, ring.leave(instance.behind))
    else:
        instance.connections_in_use -= 1
    _record(m, m.requests[who].arrived, m.requests[who].begun, m.requests[who].connected, of)
    ring.enter(m.free, who)
    if ring.length(instance.queue) and instance.threads_in_use <= instance.threads:
        _begin(m, ring.leave(instance.queue))
    else:
        instance.threads_in_use -= 1
    _think(m)


@compiled
def _record(m: Memory, arrived: float, begun: float, connected: float, instance: int) -> None:
    row = m.recorded
    m.rows[row, 0], m.rows[row, 1], m.rows[row, 2] = arrived, begun, m.now
    m.rows[row, 3], m.rows[row, 4] = connected, instance
    m.recorded = row + 1
