"""What a service can do at each size of its pool while the pool is always full, worked out and not simulated.

The n threads are the customers of a closed network: a CPU whose rate depends on how many are runnable, waits without a
queue, one lock, the dependency's slots. J. P. Buzen's convolution (Computational algorithms for closed queueing
networks with exponential servers, CACM 16 (1973)), with f_i(k) the product over j <= k of the mean time from one
request's end to the next at station i where j are there::

    G = f_1 * f_2 * ...        X(n) = G(n - 1) / G(n)

Exact where the CPU and waits are all there is, whatever the times' distribution; the lock and the slots are taken for
exponential. A share of each second goes to pauses. It is what scenarios are made with, so that their load saturates.
"""

import numpy as np

from ..cpu import total_rate
from ..laws import Bimodal
from ..tiers.run import Floats
from .scenario import Scenario, Usl


def throughput(scenario: Scenario, most: int, cores: float | None = None) -> Floats:
    """Requests a second at sizes 1 to ``most``, shape (most,).

    Worked: 2 cores, 10 ms of CPU beside 30 ms of waiting: one thread does 25/s, and 200/s are never passed.
    """
    service, dependency = scenario.service, scenario.dependency
    cores = service.cores if cores is None else cores
    if bimodal := scenario.bimodal:
        return _bimodal(scenario, bimodal, most, cores)
    counts = range(1, most + 1)
    cliff, convoy, pauses = scenario.cliff, scenario.convoy, scenario.pauses
    rate = [
        total_rate(n, cores, service.contention, service.crosstalk) * (cliff.share(n) if cliff else 1) for n in counts
    ]
    stations = [np.array([service.compute_ms / 1e3 / item for item in rate])]
    if service.wait_ms:
        stations.append(np.array([service.wait_ms / 1e3 / n for n in counts]))
    if convoy:
        stations.append(np.array([convoy.seconds(n - 1) for n in counts]))
    if dependency.slots:
        stations.append(np.array([dependency.ms / 1e3 / min(n, dependency.slots) for n in counts]))
    g = np.full(most + 1, -np.inf)
    g[0] = 0.0
    for times in stations:
        g = _convolved(g, np.concatenate([[0.0], np.cumsum(np.log(times))]))
    result: Floats = np.exp(g[:-1] - g[1:])
    return result * np.array([1.0 - pauses.seconds(n) for n in counts]) if pauses else result


def _bimodal(scenario: Scenario, law: Bimodal, most: int, cores: float) -> Floats:
    """Of a full pool n are in flight whenever a long request begins: each size is a service of its own."""

    def at(n: int) -> float:
        service = scenario.service.model_copy(update={"compute_ms": scenario.service.compute_ms * law.mean(n)})
        update = {"service": service, "law": Usl(kind="usl")}
        return float(throughput(scenario.model_copy(update=update), n, cores)[-1])

    return np.array([at(n) for n in range(1, most + 1)])


def _convolved(one: Floats, other: Floats) -> Floats:
    """Of values given by their logarithms: products of hundreds of times leave the range of numbers."""
    return np.array([np.logaddexp.reduce(one[: n + 1] + other[n::-1]) for n in range(len(one))])
