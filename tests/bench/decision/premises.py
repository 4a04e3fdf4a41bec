"""Cases whose best size moves: what it is worth to follow it.

A phase lasts from one event to the next. Each size is held over the whole run; a phase's best size has the most goodput
in it. The oracle knows the events and has each phase's best size from its first second on. A case counts where no held
size comes within 10 % of the oracle's goodput: elsewhere it cannot tell who follows the best size. Sizes are chosen on
seeds of their own (``best_fixed.CHOSEN_ON``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.best_fixed import CHOSEN_ON
from bench.controllers.racers import SIZES
from bench.racing import HELD, Racer, drive, race, slos_ms
from testbed.fine import PoolWindows
from testbed.single.names import POOL
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

COUNTS = 0.9
"""The most that the best held size may have of the oracle's goodput."""


@dataclass(frozen=True)
class Case:
    """phases: the second at which each begins, the run's end behind them. held: mean goodput of each held size in each
    phase, (sizes, phases), 1/s. oracle: mean goodput over the run."""

    scenario: Scenario
    phases: tuple[float, ...]
    sizes: tuple[int, ...]
    held: Floats
    oracle: float

    @property
    def best(self) -> tuple[int, ...]:
        """The best size of each phase."""
        return best_sizes(self.sizes, self.held)

    @property
    def of_held(self) -> Floats:
        """Goodput of each size over the run, (sizes,)."""
        return np.asarray(self.held @ np.diff(self.phases) / (self.phases[-1] - self.phases[0]))

    @property
    def fixed(self) -> int:
        return self.sizes[int(self.of_held.argmax())]

    @property
    def ratio(self) -> float:
        return float(self.of_held.max() / self.oracle)

    @property
    def counts(self) -> bool:
        return self.ratio < COUNTS


def begins(scenario: Scenario) -> tuple[float, ...]:
    """Of the judged phases, and the end. Worked: warm-up 10 s, events at 160 and 320 s of 480: (10, 160, 320, 480)."""
    events = {event.at_s for event in scenario.events if scenario.warm_up_s < event.at_s < scenario.seconds}
    return (scenario.warm_up_s, *sorted(events), scenario.seconds)


def best_sizes(sizes: Sequence[int], held: Floats) -> tuple[int, ...]:
    """held: (sizes, phases). Of equal ones the smaller."""
    return tuple(sizes[at] for at in held.argmax(axis=0))


def goodput(scenario: Scenario, size: int, seed: int) -> Floats:
    """In each phase, 1/s, of a held size."""
    at_s, latency_s = drive(scenario, held(size), seed).outcomes()
    good = at_s[latency_s * 1e3 <= slos_ms(scenario, at_s)]
    phases = begins(scenario)
    return np.asarray(np.histogram(good, phases)[0] / np.diff(phases))


def held(size: int) -> Racer:
    return Racer(HELD.build, threads=size)


def oracle(phases: Sequence[float], best: Sequence[int]) -> Racer:
    """Changes the size in the second of the event; the first one holds in the warm-up too."""
    return Racer(lambda _: _Oracle(phases, best), 1.0, threads=best[0])


class _Oracle:
    def __init__(self, phases: Sequence[float], best: Sequence[int]) -> None:
        self._phases, self._best = phases, best

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        at = int(np.searchsorted(self._phases[1:-1], now_s, side="right"))
        return {POOL: self._best[at]}


def case(scenario: Scenario, sizes: Sequence[int] = SIZES, seeds: Sequence[int] = CHOSEN_ON) -> Case:
    seen = np.array([[goodput(scenario, size, seed) for seed in seeds] for size in sizes]).mean(axis=1)
    phases = begins(scenario)
    racer = oracle(phases, best_sizes(sizes, seen))
    most = float(np.mean([race(scenario, "oracle", racer, seed).goodput_per_s for seed in seeds]))
    return Case(scenario, phases, tuple(sizes), seen, most)
