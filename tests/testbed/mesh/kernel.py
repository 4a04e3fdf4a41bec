"""The compiled engine: requests arrive, visits compute segment by segment, call stage by stage, and answer.

A visit's work is drawn once, and split evenly into the segments before, between and after its stages.
"""

import math

from ..compiled import draws
from ..compiled.jit import compiled
from . import sharing
from .choosing import choose
from .memory import BINS, FINEST, MOST_JOBS, ROWS, STEP, Memory


@compiled
def start(m: Memory) -> None:
    """The first arrival of every root is drawn."""
    for root in range(m.roots.shape[0]):
        m.roots[root].at = draws.exponential(m.gaps[root], m.roots[root].rate)


@compiled
def advance(m: Memory, until: float) -> bool:
    """Lets everything up to and including ``until`` (s) happen; False: first the rows must be read."""
    state = m.state[0]
    while state.recorded < ROWS:
        root = 0
        for i in range(1, m.roots.shape[0]):
            if m.roots[i].at < m.roots[root].at:
                root = i
        ready = m.tree[1]
        arrives = m.roots[root].at <= m.containers[ready].ready
        time = m.roots[root].at if arrives else m.containers[ready].ready
        if time > until:
            state.now = until
            return True
        state.now = time
        if arrives:
            _arrive(m, root)
        else:
            _computed(m, sharing.leave(m, ready, time))
    return False


@compiled
def _arrive(m: Memory, root: int) -> None:
    """A candidate of a Poisson process at the highest rate; kept as often as the load of the second says."""
    state, r = m.state[0], m.roots[root]
    second = min(int(state.now), m.levels.shape[0] - 1)
    r.at = state.now + draws.exponential(m.gaps[root], r.rate)
    if draws.uniform(m.kept[root]) >= m.levels[second]:
        return
    service = m.nodes[r.node].service
    to = m.members[service, int(draws.uniform(m.entry[root]) * m.member_count[service])]
    if not _begin(m, r.node, to, -1, -1, -1, root):
        _record(m, state.now, root, 1, 0.0)


@compiled
def _begin(m: Memory, node: int, container: int, parent: int, connection: int, pair: int, root: int) -> bool:
    """False where there is no room."""
    state = m.state[0]
    if state.free == 0 or m.jobs[container, 0].order >= MOST_JOBS:
        return False
    state.free -= 1
    who = m.free[state.free]
    visit = m.visits[who]
    visit.node, visit.parent, visit.container = node, parent, container
    visit.top = who if parent < 0 else m.visits[parent].top
    visit.connection, visit.pair, visit.root = connection, pair, root
    visit.stage, visit.pending, visit.failed = 0, 0, 0
    visit.began, visit.own = state.now, 0.0
    service = m.nodes[node].service
    work = draws.log_normal(m.work[service], m.mu[service], m.sigma[service])
    visit.segment = work / (m.nodes[node].count + 1)
    _compute(m, who)
    return True


@compiled
def _compute(m: Memory, who: int) -> None:
    """The next segment; the container must have room."""
    visit, now = m.visits[who], m.state[0].now
    visit.resumed = now
    sharing.enter(m, visit.container, now, visit.segment, who)


@compiled
def _computed(m: Memory, who: int) -> None:
    visit, now = m.visits[who], m.state[0].now
    visit.own += now - visit.resumed
    node = m.nodes[visit.node]
    if visit.stage == node.count:
        _answer(m, who)
        return
    stage = m.stages[node.stages + visit.stage]
    visit.stage += 1
    for i in range(stage.calls, stage.calls + stage.count):
        call = m.calls[i]
        times = call.whole
        if call.part > 0.0 and draws.uniform(m.parts) < call.part:
            times += 1
        for _ in range(times):
            over = choose(m, visit.container, call.slot)
            if _begin(m, call.node, m.connections[over].to, who, over, call.pair, visit.root):
                m.connections[over].outstanding += 1
                visit.pending += 1
            else:
                m.visits[visit.top].failed = 1
    if visit.pending == 0 and not _resumes(m, who):
        _answer(m, who)


@compiled
def _resumes(m: Memory, who: int) -> bool:
    """The next segment, after a stage; False where the container is full by then: the visit answers at once, failed."""
    visit = m.visits[who]
    if m.jobs[visit.container, 0].order >= MOST_JOBS:
        m.visits[visit.top].failed = 1
        return False
    _compute(m, who)
    return True


@compiled
def _answer(m: Memory, who: int) -> None:
    """The response reaches the caller, and so on up, as far as callers have nothing else to wait for."""
    state = m.state[0]
    while True:
        visit = m.visits[who]
        _tally(m, who)
        parent = visit.parent
        if visit.connection >= 0:
            m.connections[visit.connection].outstanding -= 1
            visit.connection = -1
        m.free[state.free] = who
        state.free += 1
        if parent < 0:
            _record(m, visit.began, visit.root, visit.failed, visit.own)
            return
        m.visits[parent].pending -= 1
        if m.visits[parent].pending or _resumes(m, parent):
            return
        who = parent


@compiled
def _tally(m: Memory, who: int) -> None:
    visit = m.visits[who]
    tally = m.tallies[visit.container]
    own = math.log(max(visit.own * 1e3, 1e-6))
    whole = math.log(max((m.state[0].now - visit.began) * 1e3, 1e-6))
    tally.visits += 1
    tally.own += own
    tally.own2 += own * own
    tally.whole += whole
    tally.whole2 += whole * whole
    if visit.pair >= 0:
        m.pairs[visit.pair, min(BINS - 1, max(0, math.floor((own - FINEST) / STEP)))] += 1


@compiled
def _record(m: Memory, arrived: float, root: int, failed: int, own: float) -> None:
    state = m.state[0]
    row = state.recorded
    m.rows[row, 0], m.rows[row, 1], m.rows[row, 2], m.rows[row, 3] = arrived, state.now, root, failed
    m.rows[row, 4] = own
    state.recorded = row + 1
