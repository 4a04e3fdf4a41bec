"""The first contents of a run's record: the callers, and the callee that they share."""

from ..compiled.processor import build, rates
from ..tiers import memory
from ..tiers.limits import MOST_CALLS
from ..tiers.memory import Memory, Tier
from .scenario import PathScenario

CALLER, CALLEE, OPERATION = "caller", "callee", "GET /"
THREADS, CONNECTIONS = "caller.threads", "caller.connections"
TIERS = {THREADS: 0, CONNECTIONS: 1}
"""By pool: the tier whose gate it is."""


def first(scenario: PathScenario, seed: int) -> Memory:
    """At second 0, before the first user comes and before the first caller is built."""
    caller, callee = scenario.caller, scenario.callee
    work, wait = f"{OPERATION}/0", f"{OPERATION}/1"
    tiers = [
        Tier(CALLER, caller.compute_ms, 0.0, work, ""),
        Tier(CALLEE, callee.compute_ms, callee.wait_ms, work, wait),
    ]
    share = scenario.shape
    m = memory.first(
        tiers, seed, scenario.seconds, lambda second: share(second) * scenario.users, scenario.think_s, scenario.sigma
    )
    build(m["cpus"][1, 0], callee.cores, rates(MOST_CALLS, callee.cores, callee.contention, callee.crosstalk, None))
    return m
