"""Random applications whose containers have capacities. As a program: in how many connections keep them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sluice.subsets.connections import flow
from sluice.subsets.fleet import Floats
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.problem import problem
from sluice.subsets.strategy_result import StrategyResult, answer
from sluice_kit.decide.applications import random_application

APPLICATIONS = 150


def with_capacities(seed: int, room: float, weights: bool) -> StrategyResult:
    """The solution of one in which each container takes `room` times the mean load of its service."""
    app = random_application(seed)
    unlimited = problem(app)
    usual = {
        fleet.service: rate / len(fleet) for fleet, rate in zip(unlimited.fleets, unlimited.rate_per_s, strict=True)
    }
    limited = tuple(
        replace(
            service,
            containers=tuple(
                replace(container, capacity_per_s=usual[service.name] * room) for container in service.containers
            ),
        )
        for service in app.services
    )
    return answer(replace(app, services=limited), "microns", {}, MicronsSettings(weights=weights))


def passed(answer: StrategyResult) -> list[Floats]:
    """Of each service's containers their load, relative to their capacity."""
    work, _ = flow(answer.problem, answer.solution.subsets)
    return [load / fleet.capacity_per_s for fleet, load in zip(answer.problem.fleets, work, strict=True)]


def main() -> None:
    for weights in (True, False):
        for room in (1.1, 1.5, 3.0):
            most = [
                max(float(load.max()) for load in passed(with_capacities(seed, room, weights)))
                for seed in range(APPLICATIONS)
            ]
            kept = int((np.array(most) <= 1.01).sum())
            how = "with weights" if weights else "without"
            print(f"{how}, {room} times the mean load: kept in {kept} of {APPLICATIONS}, most {max(most):.2f}")


if __name__ == "__main__":
    main()
