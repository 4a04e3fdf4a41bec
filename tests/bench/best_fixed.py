"""The best size to hold, in hindsight: chosen on seeds of its own, judged on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.controllers.racers import SIZES
from bench.racing import HELD, Result, race, starting_at
from testbed.single.scenario import Scenario

CHOSEN_ON = (11, 12, 13)
"""Never a seed that anything is judged on."""


@dataclass(frozen=True)
class Best:
    size: int
    of_all: dict[int, list[Result]]
    """By size, a result for each seed that it was chosen on."""


def best_fixed(scenario: Scenario, seeds: Sequence[int] = CHOSEN_ON) -> Best:
    """The size with the most goodput over the seeds; of equal ones that with the least p99."""
    of_all = {size: [held(scenario, size, seed) for seed in seeds] for size in SIZES}

    def merit(size: int) -> tuple[float, float]:
        results = of_all[size]
        return float(np.mean([r.goodput_per_s for r in results])), -float(np.mean([r.p99_ms for r in results]))

    return Best(max(SIZES, key=merit), of_all)


def held(scenario: Scenario, size: int, seed: int) -> Result:
    return race(starting_at(scenario, size), f"fixed {size}", HELD, seed)
