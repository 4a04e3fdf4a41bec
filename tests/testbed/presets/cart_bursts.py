"""Cart under bursts, as Sora 5.2 sets it up: 2 cores that a hardware scaler makes 4, and threads sized for the 2.

users -> front-end -> cart                                         (preset cart-bursts, pool cart.threads)

Taken from Sora: 3,500 users at the peak (5.2), 12 minutes of its shapes, 5 threads to start with, which are right for 2
cores ("we initially set the thread pool size in Cart to be 5", 5.2; Figure 9(a)) and too few for 4, where cart then
uses 310 % of its CPU (5.2, Figure 10(a)). Hardware-only scaling leaves them at 5.

Derived from its figures, as it prints neither times nor think time:

- think time: the goodputs of Table 3 are 1,686 and 1,207 a second for quick and large variation, whose shapes mean 78 %
  and 58 % of the users: 3500 * 0.78 / 1686 = 1.6 s and 3500 * 0.58 / 1207 = 1.7 s. Here 1.65 s;
- CPU and wait of a request: with 5 threads in 310 % a thread computes 62 % of its time. FIRM's 99th percentiles of
  Table 2 are 0.55 to 0.75 s; when all 3,500 users are there, 0.65 s mean 3500 / (1.65 + 0.65) = 1,520 requests a
  second, 3.1 / 1520 = 2.0 ms of CPU each and 5 / 1520 - 2.0 = 1.3 ms of waiting. With the overhead of the threads
  on top: 1.9 ms and 1.2 ms.

Contention and crosstalk are the preset cart's. No response time of a pool that adapts was used. cart-db is part of
cart's wait here, and the front-end has no work of its own: a run has some 850,000 requests, and both would double its
cost. The optimum at 4 cores, 8 to 12 threads, lies below the 30 of Sora's Figure 3(a): that is another load, as 5
threads that use 310 % of 4 cores leave no room for 30.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..bursty import LARGE_VARIATION
from ..distributions import Exponential, LogNormal
from ..simulation import Scenario
from ..topology import Call, Compute, PoolSpec, ServiceSpec, Topology, Wait
from .preset import Preset
from .sock_shop import CART_THREADS, CONTENTION, CROSSTALK

USERS = 3500
THINK_S = 1.65
COMPUTE_S, WAIT_S = 1.9e-3, 1.2e-3
THREADS = 5


def cart_bursts(
    users: int,
    sizes: Mapping[str, int] = MappingProxyType({}),
    shape: Callable[[float], float] | None = None,
    cores: float = 2.0,
) -> Scenario:
    cart = ServiceSpec(
        "cart",
        {"GET /carts": (Compute(LogNormal(COMPUTE_S, 0.5)), Wait(LogNormal(WAIT_S, 0.5)))},
        cores=cores,
        contention=CONTENTION,
        crosstalk=CROSSTALK,
        threads=PoolSpec(sizes.get(CART_THREADS, THREADS), queue_limit=10_000, name=CART_THREADS),
    )
    front_end = ServiceSpec("front-end", {"GET /cart": (Call("cart", "GET /carts"),)}, cores=4)
    return Scenario(
        topology=Topology((front_end, cart), entry="front-end"),
        mix={"GET /cart": 1.0},
        think=Exponential(THINK_S),
        users=users,
        shape=shape or LARGE_VARIATION,
    )


CART_BURSTS = Preset(
    "cart-bursts", cart_bursts, USERS, 250.0, {CART_THREADS: 245.0}, (3, 5, 8, 10, 15, 20, 30, 80), minutes=12.0
)
