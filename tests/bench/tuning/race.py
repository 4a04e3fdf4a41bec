"""All methods on the simulated Social Network, through the session that is shipped: what each gains, and its own time.

A row is a method on one space over all seeds: the gain in p95 against the default of what it recommends after 15
trials, both measured again for 20 s under other chance than the search had. Seeds differ in the laws, the search and
the load.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.tuning.measured import measured
from bench.tuning.network import Laws, applied, paths, space
from sluice.tuning.methods.methods import METHODS
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.objective import Objective
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Ask, Handed, Tell
from sluice.tuning.session.session import Plan, Session
from sluice.tuning.session.step import OPEN, step
from sluice.tuning.space import Configuration, Space
from sluice.tuning.space.reduce import Figures, Rule, reduced

BUDGET = 15
SEEDS = range(1, 11)
JUDGED_S = 20.0


@dataclass(frozen=True)
class Run:
    """One search. `own_s`: CPU time of the session itself, all asks and tells together."""

    method: str
    parameters: int
    gain: float
    own_s: float


def run(quick: bool = False) -> str:
    seeds = SEEDS[:1] if quick else SEEDS
    methods = ["dds", "random_search"] if quick else list(METHODS)
    spaces = {"the critical path": critical_path(), "all services": space()}
    return table({name: searches(each, methods, seeds) for name, each in spaces.items()}, len(seeds))


def critical_path() -> Space:
    """Services of the default's critical path with at least 1 ms of their own there."""
    whole = space()
    application, _ = applied(whole.default, Laws.drawn(0))
    figures = {service: Figures(*found) for service, found in paths(application).items()}
    return reduced(whole, figures, [Rule.CRITICAL_PATH])[0]


def searches(tuned: Space, methods: Sequence[str], seeds: Sequence[int]) -> list[Run]:
    found = []
    for seed in seeds:
        laws, whole = Laws.drawn(seed), space().default
        default = _value(whole, laws, seed)
        for method in methods:
            session, own_s = _search(tuned, method, laws, seed)
            gain = 1 - _value({**whole, **session.recommended}, laws, seed) / default
            found.append(Run(method, len(tuned.parameters), gain, own_s))
    return found


def _search(tuned: Space, method: str, laws: Laws, seed: int) -> tuple[Session, float]:
    plan = Plan(method, "network", tuned, Objective(((Metric.P95, 1.0),)), method, seed, BUDGET, pairs=0)
    session = create(plan, (), 0)
    if not isinstance(session, Session):
        raise ValueError(session.why)
    whole, own_s, now_ms = space().default, 0.0, 0
    while session.phase in OPEN:
        now_ms += 1_000
        began = time.process_time()
        session, effects = step(session, Ask(), now_ms)
        own_s += time.process_time() - began
        (trial,) = (effect.trial for effect in effects if isinstance(effect, Handed))
        # Each trial has load of its own: a method that knew the chance of one would fit it.
        outcome = measured({**whole, **trial.configuration}, laws, 1_000 * seed + trial.number)
        session, _ = step(session, Tell(trial.number, outcome), now_ms)
    return session, own_s


def _value(configuration: Configuration, laws: Laws, seed: int) -> float:
    value = measured(configuration, laws, 1_000_000 + seed, JUDGED_S).value
    return float("inf") if value is None else value


def table(found: dict[str, list[Run]], seeds: int) -> str:
    lines = [
        f"{BUDGET} trials of a search, {seeds} seeds. Gain: p95 less than the default's, as a share of it.",
        "",
        "| tuned | parameters | method | gain, median | least | most | own time, 15 trials |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, runs in found.items():
        rows = {method: [each for each in runs if each.method == method] for method in {each.method for each in runs}}
        for method, each in sorted(rows.items(), key=lambda row: -statistics.median(one.gain for one in row[1])):
            gains = [one.gain for one in each]
            own_s = statistics.median(one.own_s for one in each)
            figures = " | ".join(f"{100 * gain:.1f} %" for gain in (statistics.median(gains), min(gains), max(gains)))
            lines.append(f"| {name} | {each[0].parameters} | `{method}` | {figures} | {1000 * own_s:.0f} ms |")
    return "\n".join(lines) + "\n"
