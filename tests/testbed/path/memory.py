"""The first contents of a run's record: the callers, the callee that they share, and the front that may call them."""

from ..compiled.processor import build, rates
from ..tiers import memory
from ..tiers.limits import MOST_CALLS, MOST_THREADS
from ..tiers.memory import Memory, Tier
from .scenario import PathScenario

FRONT, CALLER, CALLEE, OPERATION = "front", "caller", "callee", "GET /"
THREADS, CONNECTIONS = "caller.threads", "caller.connections"


def callers(scenario: PathScenario) -> int:
    """The tier of the callers; the callee is the next. A pool is the gate of the tier whose work it bounds."""
    return 1 if scenario.front else 0


def first(scenario: PathScenario, seed: int) -> Memory:
    """At second 0, before the first user comes and before the first caller is built."""
    caller, callee = scenario.caller, scenario.callee
    work, wait = f"{OPERATION}/0", f"{OPERATION}/1"
    tiers = [
        Tier(CALLER, caller.compute_ms, 0.0, work, ""),
        Tier(CALLEE, callee.compute_ms, callee.wait_ms, work, wait),
    ]
    share = scenario.shape
    if scenario.front:
        tiers = [Tier(FRONT, scenario.front.compute_ms, 0.0, work, ""), *tiers]
    m = memory.first(
        tiers, seed, scenario.seconds, lambda second: share(second) * scenario.users, scenario.think_s, scenario.sigma
    )
    m["replicated"] = at = callers(scenario)
    if front := scenario.front:
        m["gates"]["size"][0, 0] = front.threads
        build(m["cpus"][0, 0], front.cores, rates(MOST_THREADS, front.cores, 0.0, 0.0, None))
    build(
        m["cpus"][at + 1, 0], callee.cores, rates(MOST_CALLS, callee.cores, callee.contention, callee.crosstalk, None)
    )
    return m
