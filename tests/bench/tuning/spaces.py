"""What is tuned of the simulated Social Network: all of it, what rules of 3.2.2 leave, and what to begin with.

That of variation leaves nothing here: a service's own time has a coefficient of at most 0.5 in the testbed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bench.tuning.network import Laws, applied, paths, space
from sluice.tuning.space import Configuration, Space
from sluice.tuning.space.parameter import Value
from sluice.tuning.space.reduce import Figures, Rule, reduced

ALL, CRITICAL_PATH, BOTTLENECKS = "all services", "the critical path", "known bottlenecks"
MOST_OF_PATH = "most of the path's time"
# The paper names no more than the first two of its eight; the others are those that reads of timelines, nine tenths of
# the load, pass.
KNOWN = (
    "post-storage-memcached",
    "compose-post",
    "nginx",
    "post-storage",
    "post-storage-mongodb",
    "home-timeline",
    "user-timeline",
    "user-timeline-mongodb",
)


def spaces() -> dict[str, Space]:
    """By name, as the services are under the defaults."""
    whole = space()
    seen = figures(whole.default)
    return {
        ALL: whole,
        CRITICAL_PATH: reduced(whole, seen, [Rule.CRITICAL_PATH])[0],
        BOTTLENECKS: reduced(whole, seen, [Rule.NAMED], KNOWN)[0],
        MOST_OF_PATH: reduced(whole, seen, [Rule.BOTTLENECK])[0],
    }


def figures(configuration: Configuration) -> dict[str, Figures]:
    application, _ = applied(configuration, Laws.drawn(0))
    return {service: Figures(*found) for service, found in paths(application).items()}


def services(tuned: Space) -> list[str]:
    """Those that have parameters in it, in the order in which requests reach them."""
    own = {each.service for each in tuned.parameters}
    return [service for service in figures(space().default) if service in own]


def of_service(tuned: Space, service: str) -> Space:
    return tuned.without(frozenset(each.name for each in tuned.parameters if each.service != service))


def badly_begun(tuned: Space) -> Space:
    """The same, begun with settings that are known to be bad: one nginx worker and 16 MB a cache, as in the paper, and
    a Redis that writes each change to its disk."""
    bad: Mapping[str, Value] = {"workers": 1, "memory_mb": 16.0, "appendfsync": "always"}
    parameters = [
        replace(each, default=bad.get(each.name.rpartition(".")[2], each.default)) for each in tuned.parameters
    ]
    return replace(tuned, parameters=tuple(parameters))
