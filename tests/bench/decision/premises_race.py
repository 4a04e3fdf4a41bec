"""Who earns what the best size's moves are worth: a race on the cases that count (``premises``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import t

from bench.controllers.racers import RACERS, SLUICE
from bench.decision.lineup import SEEDS
from bench.decision.premises import COUNTS, Case, case, held, oracle
from bench.decision.summary import markdown
from bench.racing import Racer, Result, race, starting_at
from bench.scenarios import scenario

NAMES = (
    "slo_moves_the_best",
    "cores_alone",
    "cores_and_callee",
    "disk_after_cpu",
    "nasa_slo",
    "nasa_cores",
    "tweets_slo",
    "tweets_burst_slo",
    "tweets_cores",
)
STEADY = ("cores_and_slot", "slo_changes", "cpu_doubled", "twice_the_data")
"""Shown beside them: their best size hardly moves, or what it moves is worth nothing."""
AGAINST = (
    SLUICE,
    "scg with our gates",
    "sct with our gates",
    "scg as published",
    "sct as published",
    "vegas",
    "gradient2",
)
ORACLE = "oracle"
LARGE = ("slo_moves_the_best", 128)
"""Raced from so many threads too: whether a racer stays where the short SLO has its best size."""


def cases(names: Sequence[str]) -> list[Case]:
    return [case(scenario(name)) for name in names]


def checked(of: Sequence[Case]) -> str:
    head = ["case", "best size of each phase", "oracle: goodput/s", "best held size: goodput/s", "ratio", "counts"]
    rows = [
        [
            item.scenario.name,
            ", ".join(map(str, item.best)),
            f"{item.oracle:,.0f}",
            f"{item.fixed}: {item.of_held.max():,.0f}",
            f"{item.ratio:.3f}",
            "yes" if item.counts else "no",
        ]
        for item in of
    ]
    return markdown(head, rows)


def racers(of: Case) -> dict[str, Racer]:
    return {
        **{name: RACERS[name] for name in AGAINST},
        f"fixed {of.fixed}": held(of.fixed),
        ORACLE: oracle(of.phases, of.best),
    }


def results(of: Case, seeds: Sequence[int] = SEEDS) -> dict[str, list[Result]]:
    """By racer, one for each seed."""
    everyone = racers(of)
    return {name: [race(of.scenario, name, everyone[name], seed) for seed in seeds] for name in everyone}


def raced(of: Mapping[str, Sequence[Result]]) -> str:
    most = float(np.mean([result.goodput_per_s for result in of[ORACLE]]))
    head = ["racer", "goodput/s", "by the oracle's", "p99 ms", "changes", "sizes"]
    rows = []
    for name, seen in of.items():
        goodput = [result.goodput_per_s for result in seen]
        sizes = [size for result in seen for _, size in result.sizes]
        rows.append(
            [
                name,
                interval(goodput),
                f"{np.mean(goodput) / most:.3f}",
                interval([result.p99_ms for result in seen]),
                f"{np.mean([result.changes for result in seen]):.3g}",
                f"{min(sizes)} to {max(sizes)}",
            ]
        )
    return markdown(head, rows)


def interval(values: Sequence[float]) -> str:
    """The mean, and half of its 95 % interval over the seeds (Student's t).

    Worked: 90, 100, 110 are 100 ± 25, as 4.303 x 10 / 3^0.5 is 24.8.
    """
    half = float(t.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{np.mean(values):,.0f} ± {half:,.0f}"


def premises(quick: bool) -> str:
    of, seeds = cases(NAMES[2:3] if quick else (*NAMES, *STEADY)), SEEDS[:2] if quick else SEEDS
    text = f"A case counts where the best held size has under {COUNTS} of the oracle's goodput.\n\n{checked(of)}"
    for item in of:
        if item.counts:
            text += f"\n### {item.scenario.name}\n\n{raced(results(item, seeds))}"
        if item.counts and item.scenario.name == LARGE[0]:
            large = replace(item, scenario=starting_at(item.scenario, LARGE[1]))
            text += f"\n### {item.scenario.name}, from {LARGE[1]} threads\n\n{raced(results(large, seeds))}"
    return text
