"""Which of its connections a container calls over, inside the kernel.

Round robin: each connection is due at a time of its own, the earliest is taken, and is due again 1 / weight later: in
any run of calls each has its share to within one call or so (earliest deadline first; Envoy's and gRPC's weighted round
robin). The first times are drawn at random within the first turn. Least request: of two drawn in proportion to the
weights the one with fewer of the caller's own calls outstanding, of equals the first drawn (Envoy's default of 2
choices, finagle's in proportion to weights); a client sees its own calls only.
"""

from ..compiled import draws
from ..compiled.jit import compiled
from .memory import ROUND_ROBIN, Memory


@compiled
def choose(m: Memory, container: int, slot: int) -> int:
    """A connection; the route must have one."""
    route = m.routes[container, slot]
    if m.state[0].routing == ROUND_ROBIN:
        return due(m, route.first, route.count)
    chosen = drawn(m, route.first, route.count)
    other = drawn(m, route.first, route.count)
    fewer = m.connections[other].outstanding < m.connections[chosen].outstanding
    return other if fewer else chosen


@compiled
def due(m: Memory, first: int, count: int) -> int:
    best = first
    for i in range(first + 1, first + count):
        if m.connections[i].due < m.connections[best].due:
            best = i
    m.connections[best].due += m.connections[best].step
    return best


@compiled
def drawn(m: Memory, first: int, count: int) -> int:
    at = draws.uniform(m.picks)
    for i in range(first, first + count - 1):
        if at < m.connections[i].until:
            return i
    return first + count - 1
