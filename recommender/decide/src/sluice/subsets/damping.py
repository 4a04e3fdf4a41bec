"""Moves loads a bounded part of the way from the present loads to those of a solution.

The load that weights bring to a host is part of the contention that the solver takes as given. The contention under
other weights is unknown. So a run goes a part of the way, and limits how much a container's load and its host's
own load grow before the effect is measured. It counts the moved calls within the churn budget.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sluice.subsets.fleet import NO_ZONE, Fleet, Floats
from sluice.subsets.microns.reference import Reference
from sluice.subsets.pace import LEAST, WeightPace, turned
from sluice.subsets.problem import Problem

#: The most that a container's load grows in a run, as a share of itself, or of the mean load where that is more. A
#: container that keeps 0.3 of its host busy adds 0.075.
GROWS = 0.25
#: The most that a host's utilization rises in a run by a service's own load, as far as that is known (`_own`).
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
    at_most: by service, the most that it may bring as far as steps showed.

    Results of the run. best: the solution's loads. moved: the part of all calls that moves. changed: services with
    other loads. unfinished: services with more of the way to go.
    """

    now: Loads | None = None
    earlier: Loads = field(default_factory=dict)
    paces: Mapping[str, WeightPace] = field(default_factory=dict)
    still: Collection[str] | None = ()
    budget: float = 1.0
    per_call: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
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
        zoned = {pair.downstream for pair in problem.pairs if (pair.zone != NO_ZONE).any()}
        steps = [
            self._step(fleet, steady, way, number in zoned)
            for number, (fleet, steady, way) in enumerate(zip(problem.fleets, base, ways, strict=True))
        ]
        moved = sum(float(np.abs(some).sum()) / 2 for some in steps)
        calls = sum(pair.rate_per_s for pair in problem.pairs)
        within = min(1.0, self.budget * calls / moved) if moved > 0 else 1.0
        self.moved = moved * within / max(calls, 1e-300)
        loads, changed, unfinished = [], set(), set()
        for fleet, reference, steady, way, some in zip(problem.fleets, best, base, ways, steps, strict=True):
            loads.append(replace(reference, load=steady + within * some))
            if _far(steady, within * some):
                changed.add(fleet.service)
            if self.paces[fleet.service].step > 2 * LEAST and _far(steady, way - within * some):
                unfinished.add(fleet.service)
        self.changed, self.unfinished = frozenset(changed), frozenset(unfinished)
        return loads

    def _pace(self, fleet: Fleet, base: Floats, way: Floats) -> WeightPace:
        pace = self.paces.get(fleet.service, WeightPace())
        if fleet.service not in self.earlier or not _far(base, way):
            return pace
        went = base - _loads(fleet, self.earlier, base)
        return turned(pace, float(way @ went)) if _far(base, went) else pace

    def _step(self, fleet: Fleet, base: Floats, way: Floats, zoned: bool = False) -> Floats:
        """The change of loads, (n,) calls/s, that adds up to 0. Loads rise by the step's part of the way, each within
        its limits; the others fall by as much, in proportion to their ways. So one container with a long way does not
        shorten the steps of all. zoned: calls stay in their zones, so each zone's loads keep their sum: then all go the
        same part of their ways.
        """
        if self.still is None or fleet.service in self.still:
            return np.zeros(len(way))
        most = GROWS * np.maximum(base, base.mean())
        if (own := self._own(fleet, base)) > 0:
            most = np.minimum(most, RISES / own)
        step = self.paces[fleet.service].step
        if zoned:
            return np.asarray(way * min(step, 1.0 / max(float((way / most).max(initial=0.0)), 1e-300)))
        rise = np.clip(step * way, 0.0, most)
        fall = np.minimum(way, 0.0)
        return np.asarray(rise + fall * (rise.sum() / max(-float(fall.sum()), 1e-300)))

    def _own(self, fleet: Fleet, base: Floats) -> float:
        """The utilization that a call per second brings, at most; 0 where nothing is known. Until it is known: no
        host's own load is more than all that is used of the host. Worked: hosts used by 0.6 and 0.3 under 10 calls/s
        each: 0.03."""
        if known := self.per_call.get(fleet.service, 0.0):
            return known
        by_host = fleet.contention / np.maximum(base, 1e-9 * max(base.mean(), 1e-9))[:, None]
        # fmin and fmax leave out what is missing (NaN), and give NaN where all is.
        least = float(np.fmax.reduce(np.fmin.reduce(by_host, axis=0)))
        most = float(np.fmin(least, self.at_most.get(fleet.service, np.inf)))
        return most if np.isfinite(most) else 0.0


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
