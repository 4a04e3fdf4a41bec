"""Social Network as Sora uses it: the request connections from home-timeline to post-storage, light and heavy requests.

users -> home-timeline -> post-storage -> post-storage-db          (pool home-timeline.connections)

Taken from Sora: the services and the pool (2.2, Figure 2), light requests that read 2 posts and heavy ones that read 10
(2.3), 2 cores, up to 4,500 users and 10 connections per replica of post-storage to start with (5.3), optima of about 10
connections for light requests and 30 for heavy ones (Figures 3(e), 3(f)). Ours: the times. A heavy request does 1.6
times the work in post-storage and waits seven times as long for the database, as Sora says that it is the downstream
databases that heavy requests stress.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..bursty import LARGE_VARIATION
from ..distributions import Exponential, LogNormal
from ..simulation import Scenario
from ..topology import Call, Compute, PoolSpec, ServiceSpec, Topology, Wait
from .preset import Preset

CONNECTIONS = "home-timeline.connections"
LIGHT, HEAVY = "GET /home-timeline", "GET /home-timeline/10-posts"
THINK_S = 7.0
CONTENTION, CROSSTALK = 0.005, 0.0005
"""Of post-storage: 2 cores with 10 runnable threads do 1.83 s of work a second, with 50 (1 + 0.245 + 1.225) 0.81."""


def _work(ms: float) -> Compute:
    return Compute(LogNormal(ms / 1e3, 0.5))


def _wait(ms: float) -> Wait:
    return Wait(LogNormal(ms / 1e3, 0.5))


def post_storage(
    users: int,
    sizes: Mapping[str, int] = MappingProxyType({}),
    shape: Callable[[float], float] | None = None,
    operation: str = LIGHT,
) -> Scenario:
    """Everyone asks for ``operation``; both are there, so that an event can change the mix."""
    home_timeline = ServiceSpec(
        "home-timeline",
        {
            LIGHT: (_work(0.6), Call("post-storage", "GET /posts"), _work(0.4)),
            HEAVY: (_work(0.6), Call("post-storage", "GET /posts/10"), _work(0.4)),
        },
        cores=4,
        connections={
            "post-storage": PoolSpec(sizes.get(CONNECTIONS, 10), queue_limit=10_000, name=CONNECTIONS, per_replica=True)
        },
    )
    # Light: 3 ms of CPU beside 8 ms: 2 cores are busy with 2 * 11 / 3 = 7.3 connections. Heavy: 2 * 60.7 / 4.7 = 26.
    service = ServiceSpec(
        "post-storage",
        {
            "GET /posts": (_work(1.5), Call("post-storage-db", "SELECT"), _work(1.5)),
            "GET /posts/10": (_work(2.35), Call("post-storage-db", "SELECT_10"), _work(2.35)),
        },
        cores=2,
        contention=CONTENTION,
        crosstalk=CROSSTALK,
    )
    database = ServiceSpec(
        "post-storage-db",
        {"SELECT": (_work(0.2), _wait(7.8)), "SELECT_10": (_work(0.6), _wait(55.4))},
        cores=16,
        database="posts",
    )
    return Scenario(
        topology=Topology((home_timeline, service, database), entry="home-timeline"),
        mix={operation: 1.0},
        think=Exponential(THINK_S),
        users=users,
        shape=shape or LARGE_VARIATION,
    )


def heavy(
    users: int, sizes: Mapping[str, int] = MappingProxyType({}), shape: Callable[[float], float] | None = None
) -> Scenario:
    return post_storage(users, sizes, shape, HEAVY)


POST_STORAGE = Preset("post-storage", post_storage, 4500, 250.0, {CONNECTIONS: 245.0}, (5, 8, 10, 12, 15, 20, 30, 50))
POST_STORAGE_HEAVY = Preset(
    "post-storage-heavy", heavy, 2850, 250.0, {CONNECTIONS: 245.0}, (10, 20, 25, 30, 35, 50, 80)
)
