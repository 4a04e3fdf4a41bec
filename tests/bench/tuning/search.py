"""One search on the simulated Social Network, through the session that is shipped, and what it is worth.

Seeds differ in the laws, the search and the load. A gain is judged by 20 s of the default and of what is recommended,
under other chance than the search had.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from bench.tuning.measured import LATEST_MS, measured
from bench.tuning.network import Laws, space
from bench.tuning.spaces import badly_begun, of_service, services
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.objective import Objective
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Ask, Handed, Tell
from sluice.tuning.session.session import Plan, Session
from sluice.tuning.session.step import OPEN, step
from sluice.tuning.space import Configuration, Space
from sluice.tuning.space.parameter import Value

BUDGET, LONG_BUDGET = 15, 100
JUDGED_S = 20.0
JOINT, BADLY_BEGUN, IN_TURN, IN_REVERSE = "", "badly begun", "in turn", "in reverse"


@dataclass(frozen=True)
class Search:
    """how: of all parameters at once, the same from a bad beginning, or of one service after the other."""

    tuned: str
    method: str
    budget: int = BUDGET
    how: str = JOINT


@dataclass(frozen=True)
class Run:
    """parameters: so many are tuned. default_ms, found_ms: p95, `LATEST_MS` where the load is not held. trials: all
    that were tried. own_s: CPU time of the session itself, all asks and tells together."""

    parameters: int
    default_ms: float
    found_ms: float
    trials: int
    own_s: float

    @property
    def gain(self) -> float:
        """By what share p95 is less than the default's."""
        return 1 - self.found_ms / self.default_ms


class Searching:
    """All searches of one seed: they have its laws and its judged default in common."""

    def __init__(self, seed: int, spaces: Mapping[str, Space]) -> None:
        self._seed, self._spaces = seed, spaces
        self._laws = Laws.drawn(seed)
        self._default = space().default
        self._default_ms = self._judged(self._default)
        self._trials, self._own_s = 0, 0.0

    def run(self, search: Search) -> Run:
        tuned = self._spaces[search.tuned]
        self._trials, self._own_s = 0, 0.0
        if search.how in (IN_TURN, IN_REVERSE):
            order = services(tuned)
            found: dict[str, Value] = {}
            for service in order if search.how == IN_TURN else reversed(order):
                found |= self._searched(of_service(tuned, service), search, found)
        else:
            begun = badly_begun(tuned) if search.how == BADLY_BEGUN else tuned
            found = dict(self._searched(begun, search, {}))
        found_ms = self._judged({**self._default, **found})
        return Run(len(tuned.parameters), self._default_ms, found_ms, self._trials, self._own_s)

    def _searched(self, tuned: Space, search: Search, fixed: Mapping[str, Value]) -> Configuration:
        """What is recommended in the end, the others being as in `fixed` or by default."""
        objective = Objective(((Metric.P95, 1.0),))
        plan = Plan("network", "network", tuned, objective, search.method, self._seed, search.budget, pairs=0)
        session = create(plan, (), 0)
        if not isinstance(session, Session):
            raise ValueError(session.why)
        now_ms = 0
        while session.phase in OPEN:
            now_ms += 1_000
            began = time.process_time()
            session, effects = step(session, Ask(), now_ms)
            self._own_s += time.process_time() - began
            (trial,) = (effect.trial for effect in effects if isinstance(effect, Handed))
            # Each trial has load of its own: a method that knew the chance of one would fit it.
            chance = 1_000 * self._seed + self._trials
            outcome = measured({**self._default, **fixed, **trial.configuration}, self._laws, chance)
            self._trials += 1
            began = time.process_time()
            session, _ = step(session, Tell(trial.number, outcome), now_ms)
            self._own_s += time.process_time() - began
        return session.recommended

    def _judged(self, configuration: Configuration) -> float:
        value = measured(configuration, self._laws, 1_000_000 + self._seed, JUDGED_S).value
        return LATEST_MS if value is None else value
