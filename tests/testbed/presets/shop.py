"""The shop of the demonstration: six parts, two pools worth tuning, bursts every 36 seconds.

users -> frontend -+-> catalogue -> catalogue-db     (pool catalogue.connections)
                   +-> cart -> cart-db               (pool cart.threads)
                   +-> orders -> cart
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..distributions import Exponential, LogNormal
from ..shapes import Repeating
from ..simulation import Scenario
from ..topology import Call, Compute, Parallel, PoolSpec, ServiceSpec, Topology, Wait
from .preset import Preset

CART_THREADS = "cart.threads"
CATALOGUE_CONNECTIONS = "catalogue.connections"
USERS = 138
"""At the peak of a burst."""
USER_THRESHOLD_MS = 250.0
"""Within which a response is good to a user."""
THRESHOLD_MS = MappingProxyType({CART_THREADS: 150.0, CATALOGUE_CONNECTIONS: 120.0})
"""Within which a response is good to those who judge the pool: callers of cart, SERVER spans of catalogue."""
PERIOD = 36.0

MIX = MappingProxyType({"GET /": 0.45, "GET /cart": 0.30, "GET /catalogue": 0.10, "POST /orders": 0.15})


def bursts(period: float = PERIOD) -> Repeating:
    """Six bursts of different heights a period, in seconds."""
    points = (
        (0, 0.2),
        (3, 0.6),
        (6, 0.25),
        (9, 0.8),
        (12, 0.3),
        (15, 1.0),
        (18, 0.4),
        (21, 1.0),
        (24, 0.35),
        (27, 0.8),
        (30, 0.25),
        (33, 0.6),
    )
    return Repeating(PERIOD, points).lasting(period)


BURSTS = bursts()


def shop(
    users: int = USERS,
    sizes: Mapping[str, int] = MappingProxyType({}),
    shape: Callable[[float], float] | None = None,
) -> Scenario:
    """``sizes`` replaces the pools' first sizes, by name."""

    def pool(name: str, size: int) -> PoolSpec:
        return PoolSpec(sizes.get(name, size), queue_limit=2000, name=name, min=1, max=256)

    def work(ms: float, cv: float = 0.5) -> Compute:
        return Compute(LogNormal(ms / 1e3, cv))

    def wait(ms: float) -> Wait:
        return Wait(LogNormal(ms / 1e3, 0.5))

    frontend = ServiceSpec(
        "frontend",
        {
            "GET /": (work(1.0), Parallel((Call("catalogue", "GET /catalogue"), Call("cart", "GET /cart"))), work(1.0)),
            "GET /cart": (work(1.0), Call("cart", "GET /cart"), work(0.5)),
            "GET /catalogue": (work(1.0), Call("catalogue", "GET /catalogue"), work(0.5)),
            "POST /orders": (work(1.0), Call("orders", "POST /orders"), work(0.5)),
        },
        cores=4,
    )
    catalogue = ServiceSpec(
        "catalogue",
        {"GET /catalogue": (work(1.5), Call("catalogue-db", "SELECT"), work(0.5))},
        cores=2,
        connections={"catalogue-db": pool(CATALOGUE_CONNECTIONS, 12)},
    )
    catalogue_db = ServiceSpec(
        "catalogue-db",
        {"SELECT": (work(8.0), wait(30.0))},
        cores=1,
        contention=0.02,
        crosstalk=0.002,
        database="catalogue",
    )
    cart = ServiceSpec(
        "cart",
        {"GET /cart": (work(5.0), Call("cart-db", "SELECT"), work(5.0))},
        cores=2,
        contention=0.015,
        crosstalk=0.001,
        threads=pool(CART_THREADS, 64),
    )
    cart_db = ServiceSpec("cart-db", {"SELECT": (work(0.5), wait(39.0))}, cores=8, database="carts")
    orders = ServiceSpec(
        "orders", {"POST /orders": (work(2.0), Call("cart", "GET /cart"), wait(5.0), work(1.0))}, cores=2
    )
    return Scenario(
        topology=Topology((frontend, catalogue, catalogue_db, cart, cart_db, orders), entry="frontend"),
        mix=MIX,
        think=Exponential(0.5),
        users=users,
        shape=shape or BURSTS,
    )


SHOP = Preset("shop", shop, USERS, USER_THRESHOLD_MS, THRESHOLD_MS, (4, 8, 12, 16, 24, 32, 64))
