"""Sessions on one world, as the product runs them: a plan, asks and tells of `session.step`, and the confirmation.

A trial's value is the p95 of a window of 30 s: that of the laws, times lognormal noise. Its deviation at the default is
that of p95 in the confirming trials of `results/tuning-real.md`: 18 intervals of three pairs, where the ratio of two
windows of 20 s has a deviation of 0.19 sqrt(2) (root mean square). A queue that relaxes more slowly has fewer
independent samples in a window, so noise grows with the root of the slowest relaxation time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bench.tuning.simulated.laws import WINDOW_S, Flow, calibrated, numbers
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Ask, Handed, Tell
from sluice.tuning.session.session import Phase, Plan, Purpose, Session
from sluice.tuning.session.step import OPEN, step
from sluice.tuning.space import Configuration, Space
from sluice.tuning.space.parameter import Value
from sluice.tuning.space.reduce import Figures, Rule, reduced

BUDGET, LONG_BUDGET = 15, 100
ALL, PATH = "all services", "the critical path"
JOINT, IN_TURN, IN_REVERSE = "", "one service after the other", "in reverse order"
NOISE = 0.19 * (20 / WINDOW_S) ** 0.5
MOST_NOISE = 0.5
# The SLO of a session: a trial above so many times the default's p95 is unsafe.
SLO = 3.0


class Search(NamedTuple):
    tuned: str
    method: str
    budget: int = BUDGET
    how: str = JOINT


@dataclass(frozen=True)
class Found:
    """What a search came to.

    parameters  that are tuned
    found_ms    p95 of what the session recommends, without noise
    seen_ms     of the trial with the least measured value, before the confirmation. One service after the other is not
                confirmed, as in the paper: both are the same
    trials      all, confirming ones too
    overloads   of them, in which a queue grew without bound; `overloaded`: in what is recommended
    own_s       CPU time of asks and tells
    """

    parameters: int
    found_ms: float
    seen_ms: float
    trials: int
    overloads: int
    overloaded: bool
    own_s: float


class Searches:
    """All searches of one seed: they have its world in common."""

    def __init__(self, seed: int) -> None:
        self.seed, self.world = seed, calibrated(seed)
        self._default = self.world.space.default
        flow = Flow(self.world, numbers(self.world, self._default))
        self.default_ms = float(flow.p95_ms()[0])
        self._slowest_ms = float(flow.slowest_ms[0])
        figures = {
            service: Figures(float(share[0]), float((ms / np.maximum(share, 1e-9))[0]), self.world.services[service].cv)
            for service, (ms, share) in flow.own.items()
        }
        self.spaces = {ALL: self.world.space, PATH: reduced(self.world.space, figures, [Rule.CRITICAL_PATH])[0]}
        self._trials = self._overloads = 0
        self._own_s, self._noise = 0.0, random.Random()

    def run(self, search: Search) -> Found:
        tuned = self.spaces[search.tuned]
        self._trials, self._overloads, self._own_s = 0, 0, 0.0
        self._noise = random.Random(f"{self.seed}/{search}")
        parts = [tuned]
        if search.how != JOINT:
            services = list(dict.fromkeys(parameter.service for parameter in tuned.parameters))
            parts = [_of(tuned, service) for service in services[:: -1 if search.how == IN_REVERSE else 1]]
        found: dict[str, Value] = {}
        for part in parts:
            recommended, seen = self._session(part, search, found)
            found |= recommended
        found_ms, used, _ = self._known(found)
        seen_ms = self._known(seen)[0] if search.how == JOINT else found_ms
        return Found(len(tuned.parameters), found_ms, seen_ms, self._trials, self._overloads, used >= 1, self._own_s)

    def at_random(self, count: int = 200) -> tuple[float, float]:
        """Of random configurations, the share that overloads the application, and the share better than the default."""
        points = np.random.default_rng(self.seed).random((count, len(self.world.space.parameters)))
        known = [self._known(self.world.space.configuration(point)) for point in points]
        return sum(used >= 1 for _, used, _ in known) / count, sum(ms < self.default_ms for ms, _, _ in known) / count

    def _session(self, tuned: Space, search: Search, fixed: Mapping[str, Value]) -> tuple[Configuration, Configuration]:
        """What is recommended, and what was the best of the search."""
        slo = TuningSlo(Metric.P95, SLO * self.default_ms)
        objective = Objective(((Metric.P95, 1.0),), (slo,))
        plan = Plan("simulated", "simulated", tuned, objective, search.method, self.seed, search.budget)
        session = create(plan if search.how == JOINT else replace(plan, pairs=0), (), 0)
        if not isinstance(session, Session):
            raise ValueError(session.why)
        now_ms, seen = 0, tuned.default
        while session.phase in OPEN:
            now_ms += 1_000 * int(WINDOW_S)
            began = time.process_time()
            session, effects = step(session, Ask(), now_ms)
            self._own_s += time.process_time() - began
            (trial,) = (effect.trial for effect in effects if isinstance(effect, Handed))
            outcome = self._measured({**fixed, **trial.configuration}, slo)
            began = time.process_time()
            session, _ = step(session, Tell(trial.number, outcome), now_ms)
            self._own_s += time.process_time() - began
            if session.phase is Phase.SEARCHING or trial.purpose is Purpose.SEARCH:
                seen = session.best.configuration if session.best else seen
        return session.recommended, seen

    def _measured(self, changed: Configuration, slo: TuningSlo) -> Outcome:
        """Each trial has noise of its own."""
        ms, used, relaxed_ms = self._known(changed)
        self._trials, self._overloads = self._trials + 1, self._overloads + (used >= 1)
        noise = min(MOST_NOISE, NOISE * (relaxed_ms / self._slowest_ms) ** 0.5)
        value = ms * self._noise.lognormvariate(0.0, noise)
        excess = slo.excess(value)
        return Outcome(TrialVerdict.UNSAFE if excess else TrialVerdict.GOOD, value, excess=excess)

    def _known(self, changed: Configuration) -> tuple[float, float, float]:
        """p95 in ms, the largest utilization, and the slowest relaxation time in ms, without noise."""
        flow = Flow(self.world, numbers(self.world, {**self._default, **changed}))
        return float(flow.p95_ms()[0]), float(flow.used.max()), float(flow.slowest_ms.max())


def _of(tuned: Space, service: str) -> Space:
    return tuned.without(frozenset(parameter.name for parameter in tuned.parameters if parameter.service != service))
