"""Moves loads a bounded part of the way from the present loads to those of a solution.

The load that weights bring to a host is part of the contention that the solver takes as given. The contention under
other weights is unknown. So a run goes a part of the way, and limits how much a container's load grows before its
effect is measured. It counts the moved calls within the churn budget.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sluice.subsets.fleet import Fleet, Floats
from sluice.subsets.microns.reference import Reference
from sluice.subsets.pace import LEAST, WeightPace, turned
from sluice.subsets.problem import Problem

#: The most that a container's load grows in a run, as a share of itself, or of the mean load where that is more. A
#: container that keeps 0.3 of its host busy adds 0.075.
GROWS = 0.25
#: The most that a host's utilization rises in a run by the load of a service whose own load is known.
RISES = 0.03
#: Loads that differ by less, relative to the mean load, count as equal. `publication` treats weights alike.
CLOSE = 0.03

Loads = Mapping[str, Mapping[str, float]]
"""By service, the loads of its containers, relative to their mean."""


@dataclass
class Damping:
    """The loads that connections aim at, in place of the best ones.

    Inputs. now: the present loads; a container without one has the mean load. None: `first_loads` computes them from
    the problem. earlier: the loads of the run before. still: services whose loads stay; None: all. budget: the part of
    all calls that may move. per_call: by service, the utilization that a call per second brings, where it is known.

    Results of the run. best: the solution's loads. moved: the part of all calls that moves. changed: services with
    other loads. unfinished: services with more of the way to go.
    """

    now: Loads | None = None
    earlier: Loads = field(default_factory=dict)
    paces: Mapping[str, WeightPace] = field(default_factory=dict)
    still: Collection[str] | None = ()
    budget: float = 1.0
    per_call: Mapping[str, float] = field(default_factory=dict)
    first_loads: Callable[[Problem], Loads] = lambda problem: {}
    best: list[Reference] = field(default_factory=list)
    moved: float = 0.0
    changed: frozenset[str] = frozenset()
    unfinished: frozenset[str] = frozenset()

    def __call__(self, problem: Problem, best: list[Reference]) -> list[Reference]:
        self.best = best
        now = self.first_loads(problem) if self.now is None else self.now
        base = [_loads(fleet, now, reference.load) for fleet, reference in zip(problem.fleets, best, strict=True)]
        ways = [reference.load - steady for reference, steady in zip(best, base, strict=True)]
        self.paces = {
            fleet.service: self._pace(fleet, steady, way)
            for fleet, steady, way in zip(problem.fleets, base, ways, strict=True)
        }
        part = [self._part(fleet, steady, way) for fleet, steady, way in zip(problem.fleets, base, ways, strict=True)]
        moved = sum(pace * float(np.abs(way).sum()) / 2 for pace, way in zip(part, ways, strict=True))
        calls = sum(pair.rate_per_s for pair in problem.pairs)
        within = min(1.0, self.budget * calls / moved) if moved > 0 else 1.0
        self.moved = moved * within / max(calls, 1e-300)
        loads, changed, unfinished = [], set(), set()
        for fleet, reference, steady, way, some in zip(problem.fleets, best, base, ways, part, strict=True):
            loads.append(replace(reference, load=steady + within * some * way))
            if _far(steady, within * some * way):
                changed.add(fleet.service)
            if self.paces[fleet.service].step > 2 * LEAST and _far(steady, (1 - within * some) * way):
                unfinished.add(fleet.service)
        self.changed, self.unfinished = frozenset(changed), frozenset(unfinished)
        return loads

    def _pace(self, fleet: Fleet, base: Floats, way: Floats) -> WeightPace:
        pace = self.paces.get(fleet.service, WeightPace())
        if fleet.service not in self.earlier or not _far(base, way):
            return pace
        went = base - _loads(fleet, self.earlier, base)
        return turned(pace, float(way @ went)) if _far(base, went) else pace

    def _part(self, fleet: Fleet, base: Floats, way: Floats) -> float:
        if self.still is None or fleet.service in self.still:
            return 0.0
        step = self.paces[fleet.service].step
        most = float((way / np.maximum(base, base.mean())).max(initial=0.0))
        rises = self.per_call.get(fleet.service, 0.0) * float(way.max(initial=0.0))
        return min(step, GROWS / most if most > 0 else step, RISES / rises if rises > 0 else step)


def relative(problem: Problem, loads: list[Floats]) -> dict[str, dict[str, float]]:
    """Loads relative to their mean. `loads`: calls per second of each service's containers."""
    return {
        fleet.service: dict(zip(fleet.names, (load / load.mean()).tolist(), strict=True))
        for fleet, load in zip(problem.fleets, loads, strict=True)
        if load.mean() > 0
    }


def _loads(fleet: Fleet, known: Loads, like: Floats) -> Floats:
    """Known loads in calls per second, scaled to the sum of `like`."""
    weights = known.get(fleet.service, {})
    level = np.array([weights.get(name, 1.0) for name in fleet.names])
    return np.asarray(level * (float(like.sum()) / level.sum()))


def _far(base: Floats, way: Floats) -> bool:
    """Whether any load differs by more than CLOSE of the mean load."""
    return bool((np.abs(way) > CLOSE * base.mean()).any())
