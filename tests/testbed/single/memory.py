"""The first contents of a run's record: one tier, and the dependency as another, whose gate are its slots."""

from collections.abc import Callable

import numpy as np

from ..compiled import draws
from ..compiled.processor import build, rates
from ..tiers import memory
from ..tiers.limits import MOST_THREADS
from ..tiers.memory import Memory, Tier
from ..tiers.run import Floats
from .names import DEPENDENCY, SERVICE, place
from .scenario import Scenario


def first(scenario: Scenario, seed: int) -> Memory:
    """At second 0, before the first user comes."""
    service, dependency = scenario.service, scenario.dependency
    convoy, pauses = scenario.convoy, scenario.pauses
    waits = place(2 if convoy else 1)
    tiers = [Tier(SERVICE, service.compute_ms, service.wait_ms, place(0), waits)]
    if dependency.slots:
        tiers.append(Tier(DEPENDENCY, 0.0, dependency.ms, "", place(0)))
    share = scenario.shape
    m = memory.first(
        tiers, seed, scenario.seconds, lambda second: share(second) * scenario.users, scenario.think_s, service.sigma
    )
    m["built"] = m["rotating"] = 1
    m["gates"]["size"][:2, 0] = service.threads, dependency.slots
    build(m["cpus"][0, 0], service.cores, rates_of(scenario, service.cores))
    if convoy:
        m["locks"], m["holds"] = True, table(convoy.seconds)
    if pauses:
        m["pause_time"], m["pauses"] = 1.0, table(pauses.seconds)
    if bimodal := scenario.bimodal:
        m["long_share"], m["longer"] = bimodal.share, table(bimodal.longer)
        m["kinds"] = draws.words(seed, SERVICE, "kinds")
    return m


def rates_of(scenario: Scenario, cores: float) -> Floats:
    service = scenario.service
    return rates(MOST_THREADS, cores, service.contention, service.crosstalk, scenario.cliff)


def table(of: Callable[[int], float]) -> Floats:
    """By the number of requests."""
    return np.array([of(n) for n in range(MOST_THREADS + 1)])
