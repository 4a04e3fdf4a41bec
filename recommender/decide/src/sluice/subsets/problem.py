"""The solver's view of an application: fleets, pairs, call trees, and the number of connections to assign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sluice.subsets.application import USUAL, Application
from sluice.subsets.calls import rates
from sluice.subsets.circles import Calls, in_order
from sluice.subsets.fleet import NO_ZONE, Fleet, Floats, Ints, fleet, zones
from sluice.subsets.legal import IllegalSubsetsError, check
from sluice.subsets.self_calls import without_self_calls
from sluice.subsets.trees import Trees, trees

if TYPE_CHECKING:
    from sluice.subsets.connections import Connections


@dataclass(frozen=True, eq=False)
class FleetPair:
    """Two fleets, the calls per second between them, and the limits of each upstream container.

    zone: (U,) the zone that an upstream container may connect to, NO_ZONE where it may connect to all. prefers: (U,)
    the zone that it prefers, NO_ZONE where it prefers none. least, most: (U,) connections of an upstream container.
    containers: the number of downstream containers. reachable: how many of them at least one upstream container may
    connect to. `least` connections suffice to reach each of these. fixed: the calls of upstream containers that do not
    follow their subsets, none for the others; None where all follow.
    """

    upstream: int
    downstream: int
    rate_per_s: float
    zone: Ints
    prefers: Ints
    least: Ints
    most: Ints
    containers: int
    reachable: int
    fixed: Connections | None = None

    @cached_property
    def fewest(self) -> int:
        """The least number of connections that gives each upstream container its `least` and reaches each reachable
        one."""
        return max(int(self.least.sum()), self.reachable)

    @cached_property
    def all(self) -> int:
        """The number of connections where each upstream container connects to everything that it may."""
        return int(self.most.sum())


@dataclass(frozen=True)
class ProblemLimits:
    """The limits that an application sets. quota: None stands for the default (`_quota`)."""

    quota: int | None
    min_subset: int
    keep_in_zone: bool
    prefer_zone: bool = False


@dataclass(frozen=True, eq=False)
class Problem:
    """Fleets are in the order of services, pairs in the order of upstream and downstream service.

    outside: (S,) calls per second that come to each service from outside. order: the pairs, such that those towards a
    service come before those from it. cut: the pairs for which this order is impossible, because services call each
    other in a cycle; they come last. quota: connections over all pairs, within the legal range. Where the rules set
    none, the solver replaces it by the number that it chooses.
    """

    fleets: tuple[Fleet, ...]
    pairs: tuple[FleetPair, ...]
    trees: Trees
    outside: Floats
    order: tuple[int, ...]
    quota: int
    percentile: float
    rules: ProblemLimits
    cut: frozenset[int] = frozenset()

    @cached_property
    def rate_per_s(self) -> Floats:
        """(S,) calls per second to each service."""
        rate = self.outside.copy()
        for pair in self.pairs:
            rate[pair.downstream] += pair.rate_per_s
        return rate

    @cached_property
    def partly(self) -> tuple[FleetPair, ...]:
        """The pairs with upstream containers that do not follow their subsets."""
        return tuple(pair for pair in self.pairs if pair.fixed is not None)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Lines for people about how this problem is solved."""
        if not self.cut:
            return ()
        shown = sorted(self.cut, key=lambda number: -self.pairs[number].rate_per_s)
        some = [f"{self.name(self.pairs[number])} ({self.pairs[number].rate_per_s:.3g}/s)" for number in shown[:3]]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        return (f"services call each other in a cycle; the solver cuts its rarest calls, {', '.join(some)}{more}",)

    def name(self, pair: FleetPair) -> str:
        return f"{self.fleets[pair.upstream].service} -> {self.fleets[pair.downstream].service}"


def problem(application: Application, known: Mapping[str, Fleet] | None = None) -> Problem:
    """Builds the problem. `known`: fleets of unchanged services, to reuse.

    Raises:
        IllegalError: as `check`; or the quota is smaller than the smallest legal subsets need.
    """
    check(application)
    application = without_self_calls(application)
    hosts = {host.name: host for host in application.hosts}
    numbers = zones(application.hosts)
    called = rates(application)
    tops = {root.tree.service: 0.0 for root in application.roots}
    for root in sorted(application.roots, key=lambda root: root.name):
        tops[root.tree.service] += root.rate_per_s
    taking_part = {name for key in called for name in key} | set(tops)
    services = sorted(
        (service for service in application.services if service.name in taking_part), key=lambda service: service.name
    )
    fleets = tuple((known or {}).get(service.name) or fleet(service, hosts, numbers) for service in services)
    index = {fleet.service: number for number, fleet in enumerate(fleets)}
    rules = ProblemLimits(application.quota, application.min_subset, application.keep_in_zone, application.prefer_zone)
    pairs = tuple(_pair(rules, fleets, index[up], index[down], rate) for (up, down), rate in called.items())
    order, cut = in_order([Calls(pair.upstream, pair.downstream, pair.rate_per_s) for pair in pairs], len(fleets))
    return Problem(
        fleets,
        pairs,
        trees(application, {key: number for number, key in enumerate(called)}),
        _outside(np.array([tops.get(fleet.service, 0.0) for fleet in fleets]), pairs),
        order,
        _quota(rules, pairs),
        application.percentile,
        rules,
        cut,
    )


def with_fleet(known: Problem, changed: Fleet) -> Problem:
    """The same problem with other containers of one of its services.

    Raises:
        IllegalError: the service has no containers; or the quota is smaller than the smallest legal subsets need.
    """
    if not len(changed):
        raise IllegalSubsetsError(
            [f"services {changed.service!r} has no containers that are not drained; legal: at least one"]
        )
    at = next(number for number, fleet in enumerate(known.fleets) if fleet.service == changed.service)
    fleets = (*known.fleets[:at], changed, *known.fleets[at + 1 :])
    pairs = tuple(
        _pair(known.rules, fleets, pair.upstream, pair.downstream, pair.rate_per_s)
        if at in (pair.upstream, pair.downstream)
        else pair
        for pair in known.pairs
    )
    return replace(known, fleets=fleets, pairs=pairs, quota=_quota(known.rules, pairs))


def _pair(rules: ProblemLimits, fleets: Sequence[Fleet], up: int, down: int, rate: float) -> FleetPair:
    above, below = fleets[up], fleets[down]
    count = len(below)
    zone = prefers = np.full(len(above), NO_ZONE, dtype=np.int64)
    most = np.full(len(above), count, dtype=np.int64)
    least = np.minimum(most, rules.min_subset)
    reachable = count
    if rules.keep_in_zone:
        there = np.array([int((below.zone == zone_number).sum()) for zone_number in above.zone])
        kept = (above.zone != NO_ZONE) & (there > 0)
        zone, most = np.where(kept, above.zone, NO_ZONE), np.where(kept, there, count)
        of_others = int((~np.isin(below.zone, zone[kept])).sum())
        reachable = count if not kept.all() else count - of_others
        # Upstream containers of a zone share the zone's downstream containers; those outside any zone share the rest.
        # `least` is large enough that together they reach each of them.
        theirs = np.where(kept, there, of_others)
        callers = np.array([int((zone == zone_number).sum()) for zone_number in zone])
        least = np.maximum(np.minimum(most, rules.min_subset), -(-theirs // callers))
    if rules.prefer_zone:
        prefers = np.where(np.isin(above.zone, below.zone), above.zone, NO_ZONE)
    return FleetPair(up, down, rate, zone, prefers, least.astype(np.int64), most.astype(np.int64), count, reachable)


def _outside(known: Floats, pairs: Sequence[FleetPair]) -> Floats:
    """Completes `known`, (S,), the calls from outside.

    Some services call others and have no known caller, as in pairs without a tree. Such a service gets calls from
    outside at the rate of the pair that it calls most.
    """
    called = known.copy()
    calls = np.zeros(len(known))
    for pair in pairs:
        called[pair.downstream] += pair.rate_per_s
        calls[pair.upstream] = max(calls[pair.upstream], pair.rate_per_s)
    return np.where(called > 0, known, calls)


def _quota(rules: ProblemLimits, pairs: Sequence[FleetPair]) -> int:
    fewest, most = sum(pair.fewest for pair in pairs), sum(pair.all for pair in pairs)
    if rules.quota is None:
        return usual(pairs)
    if rules.quota < fewest:
        raise IllegalSubsetsError(
            [
                f"quota {rules.quota} is not legal: min_subset {rules.min_subset} for each upstream container, and a"
                f" connection to each downstream container, need {fewest}; legal: {fewest} or more"
            ]
        )
    return min(rules.quota, most)


def usual(pairs: Sequence[FleetPair]) -> int:
    """The number of connections without a quota and without a prediction: USUAL for each upstream container, within the
    legal range. No choice exceeds it."""
    fewest, most = sum(pair.fewest for pair in pairs), sum(pair.all for pair in pairs)
    return min(max(sum(USUAL * len(pair.most) for pair in pairs), fewest), most)
