"""The parts as benchmarks: each takes whether to be quick, and returns its tables."""

from __future__ import annotations

from bench.controllers.racers import SLUICE
from bench.decision import (
    cases,
    claims,
    phases,
    premises_race,
    quarter,
    rest,
    services,
    starts,
    three_tiers,
    two_pools,
    workloads,
)
from bench.decision.lineup import LATE, PUBLISHED, SEEDS
from bench.generate import HELD_OUT


def decision(quick: bool) -> str:
    """The six workloads, and the cases, which are judged by who is of use in the workloads."""
    names, from_, seeds = (
        (workloads.NAMES[:1], (60,), SEEDS[:1]) if quick else (workloads.NAMES, workloads.STARTS, SEEDS)
    )
    cells = workloads.cells(names, from_, seeds)
    happened = cases.CHANGES[:1] if quick else (*cases.CHANGES, *cases.OVERLOADS)
    result = cases.report(cases.results(happened, seeds), cases.of_use(cells))
    return f"### The six workloads\n\n{workloads.report(cells)}\n### What happens to a service\n\n{result}"


def six_workloads(quick: bool) -> str:
    """The bars of the six workloads alone: without who is only shown beside them, in a quarter of the time."""
    racers = (SLUICE, *PUBLISHED, *LATE)
    if quick:
        return workloads.judged(workloads.cells(workloads.NAMES[:1], (60,), SEEDS[:1], racers))
    return workloads.judged(workloads.cells(workloads.NAMES, workloads.STARTS, SEEDS, racers))


def random_services(quick: bool) -> str:
    return services.report(services.all_regrets(HELD_OUT[:4] if quick else HELD_OUT))


def what_it_says(quick: bool) -> str:
    return claims.report(claims.all_claims(HELD_OUT[:4] if quick else HELD_OUT))


def bad_start(quick: bool) -> str:
    return starts.report(starts.all_recoveries(starts.SEEDS[:8] if quick else starts.SEEDS))


def quarter_size(quick: bool) -> str:
    return quarter.report(quarter.all_steps(starts.SEEDS[:8] if quick else starts.SEEDS))


def at_rest(quick: bool) -> str:
    return rest.report(rest.all_rests(SEEDS[:1], (60,)) if quick else rest.all_rests())


def wrong_pools(quick: bool) -> str:
    return two_pools.report((16, 8), SEEDS[:1]) if quick else two_pools.report(two_pools.best_pair())


def moves(quick: bool) -> str:
    return premises_race.premises(quick)


def tiers(quick: bool) -> str:
    return three_tiers.measured(quick)


def scaling(quick: bool) -> str:
    return phases.scaling(quick)


def drift(quick: bool) -> str:
    return phases.drift(quick)
