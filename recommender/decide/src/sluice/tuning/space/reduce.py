"""Which services to tune (Somashekar and Gandhi 2021, 3.2.2): rules that leave parameters out, with the reason.

    critical_path  services on the critical path, with a time of their own there of at least 1 ms
    variance       services with a coefficient of variation (deviation / mean) of their service time above 0.5
    bottleneck     the fewest services that together have more than 80 % of the critical path's time
    named          services that the user names

In the paper, of 28 services the rules keep 12, 7 and, for bottlenecks that are known beforehand (here: named), 8. The
gain is then 22 to 23 %, 17 to 20 % and about as much as with the first rule; with all services it is 25 %. `bottleneck`
is our own rule, over the same paths. Where cores are full, each service waits over a millisecond for one, and the first
rule leaves nothing out. Rules may be joined: a service that any rule keeps is kept. All rules keep a parameter without
a service.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from sluice.tuning.space.space import Space

LEAST_SELF_MS = 1.0
LEAST_VARIATION = 0.5
MOST_OF_PATH = 0.8


@dataclass(frozen=True)
class Figures:
    """What the pipeline measured of a service under the root operation.

    share      the share of traces with the service on the critical path, 0..1
    self_ms    its own mean time on the path, in those traces
    variation  coefficient of variation of its service time; NaN where it is unknown
    """

    share: float
    self_ms: float
    variation: float

    @property
    def path_ms(self) -> float:
        """Its own time on the path, as a mean over all traces: 10 ms in a fifth of them are 2 ms."""
        return self.share * self.self_ms if self.share > 0 else 0.0


class Rule(Enum):
    CRITICAL_PATH = "critical_path"
    VARIANCE = "variance"
    BOTTLENECK = "bottleneck"
    NAMED = "named"


@dataclass(frozen=True)
class Left:
    """A service whose parameters stay at their defaults, their number, and the reason of each rule."""

    service: str
    parameters: int
    why: str


def reduced(
    space: Space, figures: Mapping[str, Figures], rules: Sequence[Rule], named: Collection[str] = ()
) -> tuple[Space, tuple[Left, ...]]:
    """The space of the services that a rule keeps, and the other services, in the order of the space."""
    services = list(dict.fromkeys(parameter.service for parameter in space.parameters if parameter.service))
    most = bottlenecks(figures)
    left = []
    for service in services:
        reasons = [_against(rule, service, figures.get(service), most, named) for rule in rules]
        if reasons and None not in reasons:
            count = sum(parameter.service == service for parameter in space.parameters)
            left.append(Left(service, count, "; ".join(dict.fromkeys(map(str, reasons)))))
    gone = {rest.service for rest in left}
    names = frozenset(parameter.name for parameter in space.parameters if parameter.service in gone)
    return space.without(names), tuple(left)


def bottlenecks(figures: Mapping[str, Figures]) -> tuple[str, ...]:
    """The fewest services that have more than 80 % of the path's time, the largest first; equal ones by name."""
    most = MOST_OF_PATH * sum(figure.path_ms for figure in figures.values())
    services: list[str] = []
    for service in sorted(figures, key=lambda service: (-figures[service].path_ms, service)):
        if sum(figures[chosen].path_ms for chosen in services) > most or not figures[service].path_ms:
            break
        services.append(service)
    return tuple(services)


def _against(
    rule: Rule, service: str, figures: Figures | None, most: Collection[str], named: Collection[str]
) -> str | None:
    """Why the rule leaves the service out; None: it keeps it."""
    if rule is Rule.NAMED:
        return None if service in named else "is not named"
    if figures is None:
        return "has no spans under this root"
    if rule is Rule.CRITICAL_PATH:
        if not figures.share > 0:
            return "is on no critical path"
        return (
            None
            if figures.self_ms >= LEAST_SELF_MS
            else f"has {figures.self_ms:.2g} ms of its own on the critical path"
        )
    if rule is Rule.BOTTLENECK:
        return None if service in most else "is not among the services with most of the critical path's time"
    if figures.variation > LEAST_VARIATION:
        return None
    return f"has a coefficient of variation of {figures.variation:.2g}"
