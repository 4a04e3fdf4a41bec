"""Beside the shop of the demonstration: a pair of services with several containers, on hosts that are unevenly busy.

users -> suggest (3 containers) -> suggest-index (6 containers)

Each of the six hosts has a container of suggest-index, the first three also one of suggest. Tenants that are not ours
use between 10 and 60 % of a host, so that suggest-index takes 9 ms on one host and 29 ms on another. It has no pool to
be sized, and shares nothing with the shop.
"""

from ..distributions import Exponential, LogNormal
from ..shapes import Held
from ..simulation import Scenario
from ..topology import Call, Compute, HostSpec, ServiceSpec, Topology

SUGGESTIONS_PER_S = 24.0
"""Of which each container of suggest-index gets 40 in 10 s: a sample of the latency model needs 20."""
PORT = 8085
HOSTS = tuple(
    # By their addresses, of the loopback range, so that clients of xDS can connect to servers there.
    HostSpec(f"127.0.1.{number}", 4.0, (busy, busy, busy / 2))
    for number, busy in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), start=1)
)
SUGGEST, INDEX = "suggest", "suggest-index"


def suggest() -> Scenario:
    def work(ms: float) -> Compute:
        return Compute(LogNormal(ms / 1e3, 0.5))

    above = ServiceSpec(
        SUGGEST,
        {"GET /suggestions": (work(2.0), Call(INDEX, "GET /index"), work(1.0))},
        replicas=3,
        hosts=tuple(host.name for host in HOSTS[:3]),
    )
    below = ServiceSpec(
        INDEX, {"GET /index": (work(8.0),)}, replicas=len(HOSTS), hosts=tuple(host.name for host in HOSTS)
    )
    return Scenario(
        topology=Topology((above, below), entry=SUGGEST, hosts=HOSTS),
        mix={"GET /suggestions": 1.0},
        think=Exponential(1.0),
        users=0,
        shape=Held(((0.0, 1.0),)),
        arrivals_per_s=SUGGESTIONS_PER_S,
    )
