"""Sock Shop as Sora uses it: the thread pool of cart, and the database connections of catalogue.

users -> front-end -> cart -> cart-db                              (preset cart, pool cart.threads)
users -> front-end -+-> catalogue -> catalogue-db                  (preset catalogue, pool catalogue.connections)
                    +-> cart -> cart-db

Taken from the papers: who calls whom (Sora, Figures 2 and 5), 2 and 4 cores of cart (2.3), 12 minutes and the load
shapes (5.2), a threshold of 250 ms (2.3), and optima of about 10 threads at 2 cores, 30 at 4 (2.3) and 15 connections
(5.1). The think time of 7 s is RUBBoS's. Ours, as the papers print no service times: times and overheads, chosen so
that the optima lie near theirs, and numbers of users whose peak is a little more than the best size can serve (the
papers' 3,500 users ask for more a second than 7 s of think time allow); 10 connections of catalogue to start with. Cart
starts with 10 threads, about the best at 2 cores, where Sora starts with the 5 that it found to be that.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..bursty import LARGE_VARIATION
from ..distributions import Exponential, LogNormal
from ..simulation import Scenario
from ..topology import Call, Compute, Parallel, PoolSpec, ServiceSpec, Topology, Wait
from .preset import Preset

CART_THREADS = "cart.threads"
CATALOGUE_CONNECTIONS = "catalogue.connections"
THINK_S = 7.0
CONTENTION, CROSSTALK = 0.005, 0.0003
"""Of cart: 2 cores with 10 runnable threads do 1.86 s of work a second, with 60 (1 + 0.295 + 1.062) 0.85."""
DB_CONTENTION, DB_CROSSTALK = 0.005, 0.0005
"""Of catalogue-db."""


def _work(ms: float) -> Compute:
    return Compute(LogNormal(ms / 1e3, 0.5))


def _wait(ms: float) -> Wait:
    return Wait(LogNormal(ms / 1e3, 0.5))


def _cart(cores: float, threads: int) -> tuple[ServiceSpec, ServiceSpec]:
    """5 ms of CPU beside 16 ms of waiting: 2 cores are busy with 2 * 21 / 5 = 8.4 threads, and a few to spare."""
    cart = ServiceSpec(
        "cart",
        {"GET /carts": (_work(2.5), Call("cart-db", "SELECT"), _work(2.5))},
        cores=cores,
        contention=CONTENTION,
        crosstalk=CROSSTALK,
        threads=PoolSpec(threads, queue_limit=10_000, name=CART_THREADS),
    )
    return cart, ServiceSpec("cart-db", {"SELECT": (_work(0.4), _wait(15.0))}, cores=8, database="carts")


def cart(
    users: int,
    sizes: Mapping[str, int] = MappingProxyType({}),
    shape: Callable[[float], float] | None = None,
    cores: float = 2.0,
) -> Scenario:
    """Users look at their carts."""
    front_end = ServiceSpec("front-end", {"GET /cart": (_work(0.6), Call("cart", "GET /carts"), _work(0.4))}, cores=4)
    return Scenario(
        topology=Topology((front_end, *_cart(cores, sizes.get(CART_THREADS, 10))), entry="front-end"),
        mix={"GET /cart": 1.0},
        think=Exponential(THINK_S),
        users=users,
        shape=shape or LARGE_VARIATION,
    )


def cart_of_4_cores(
    users: int, sizes: Mapping[str, int] = MappingProxyType({}), shape: Callable[[float], float] | None = None
) -> Scenario:
    return cart(users, sizes, shape, cores=4.0)


def catalogue(
    users: int, sizes: Mapping[str, int] = MappingProxyType({}), shape: Callable[[float], float] | None = None
) -> Scenario:
    """Users look at the catalogue; cart, asked beside it, is never the bottleneck here."""
    both = Parallel((Call("catalogue", "GET /catalogue"), Call("cart", "GET /carts")))
    front_end = ServiceSpec("front-end", {"GET /catalogue": (_work(0.6), both, _work(0.4))}, cores=4)
    service = ServiceSpec(
        "catalogue",
        {"GET /catalogue": (_work(1.5), Call("catalogue-db", "SELECT"), _work(1.5))},
        cores=2,
        connections={
            "catalogue-db": PoolSpec(
                sizes.get(CATALOGUE_CONNECTIONS, 10), queue_limit=10_000, name=CATALOGUE_CONNECTIONS
            )
        },
    )
    # 4 ms of CPU beside 20 ms of disk and locks: 2 cores are busy with 2 * 24 / 4 = 12 connections.
    database = ServiceSpec(
        "catalogue-db",
        {"SELECT": (_work(4.0), _wait(20.0))},
        cores=2,
        contention=DB_CONTENTION,
        crosstalk=DB_CROSSTALK,
        database="catalogue",
    )
    cart_, cart_db = _cart(8.0, 64)
    return Scenario(
        topology=Topology((front_end, service, database, cart_, cart_db), entry="front-end"),
        mix={"GET /catalogue": 1.0},
        think=Exponential(THINK_S),
        users=users,
        shape=shape or LARGE_VARIATION,
    )


CART = Preset("cart", cart, 3000, 250.0, {CART_THREADS: 245.0}, (5, 8, 10, 12, 15, 20, 30, 80))
CART_4 = Preset("cart-4-cores", cart_of_4_cores, 5800, 250.0, {CART_THREADS: 245.0}, (10, 15, 20, 25, 30, 50, 80))
CATALOGUE = Preset("catalogue", catalogue, 3500, 250.0, {CATALOGUE_CONNECTIONS: 245.0}, (8, 10, 12, 15, 18, 20, 30, 50))
