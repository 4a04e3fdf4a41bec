"""One run: an application, its users, and what comes out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .adjustable import AdjustablePool, adjustable
from .application import Application
from .arrivals import OpenLoop
from .distributions import Distribution
from .engine import Engine
from .mix import Mix
from .spans import Span
from .topology import Topology
from .users import ClosedLoop, Outcome


@dataclass(frozen=True, slots=True)
class Scenario:
    """An application with its load: everything that a run depends on but the seed."""

    topology: Topology
    mix: Mapping[str, float]
    """Weight of each operation of the entry."""
    think: Distribution
    users: int
    """The most there will be at a time."""
    shape: Callable[[float], float]
    """Share of ``users`` that is there, by second."""
    arrivals_per_s: float = 0.0
    """Poisson arrivals that come beside the users and wait for no response: their rate where the shape is 1."""


class Simulation:
    """Deterministic: the same scenario and seed give the same spans, resizes at the same times provided.

    Raises:
        ValueError: the topology names a part that it does not have, or a value lies outside its range.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        on_span: Callable[[Span], None],
        on_outcome: Outcome = lambda time, latency, failed: None,
    ) -> None:
        self.engine = Engine()
        self.application = Application(scenario.topology, self.engine, seed, on_span)
        self.mix = Mix(self.application, scenario.mix)
        self.users = ClosedLoop(
            self.application, self.mix, scenario.think, scenario.users, scenario.shape, seed, on_outcome
        )
        if scenario.arrivals_per_s:
            OpenLoop(self.application, self.mix, scenario.arrivals_per_s, scenario.shape, seed, on_outcome)
        self.pools: dict[str, AdjustablePool] = {pool.name: pool for pool in adjustable(self.application)}

    def run_until(self, second: float) -> int:
        """Returns the number of events that ran."""
        return self.engine.run_until(second)
