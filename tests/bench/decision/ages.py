"""The same decision on data of other ages, and of hosts whose clock is ahead or behind: what it costs the users.

Held against the size that the operator had: what is said on no data may not be worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.controllers.racers import HARDWARE, SLUICE
from bench.decision.summary import Summary, markdown, summary
from bench.race import Task, run_all
from bench.scenarios import scenario

NAMES = ("large_variation", "light_then_surge", "light_bursts", "rest_light", "slow_dependency")
DELAYS_S, CLOCKS_S = (0.0, 0.5, 1.0, 2.0, 5.0), (0.0, 1.0, -1.0)
WAYS = [(delay_s, clock_s) for clock_s in CLOCKS_S for delay_s in DELAYS_S]
LEAST = 0.95


def results(names: Sequence[str], seeds: Sequence[int]) -> dict[str, dict[tuple[float, float] | None, Summary]]:
    """By scenario, and delay and clock; None: at the size that it begins with."""
    ways: list[tuple[float, float] | None] = [None, *WAYS]
    tasks = [
        Task(scenario(name), HARDWARE, seed) if way is None else Task(scenario(name), SLUICE, seed, *way)
        for name in names
        for way in ways
        for seed in seeds
    ]
    found = iter(run_all(tasks))
    return {name: {way: summary([next(found) for _ in seeds]) for way in ways} for name in names}


def report(of: Mapping[str, Mapping[tuple[float, float] | None, Summary]]) -> str:
    rows, worse = [], 0
    for name, ways in of.items():
        held = ways[None]
        for way, ours in ways.items():
            if way is None:
                continue
            delay_s, clock_s = way
            ratio = ours.goodput_per_s / held.goodput_per_s
            worse += ratio < LEAST
            figures = [f"{ours.p99_ms:,.0f}", f"{ours.goodput_per_s:,.1f}", f"{held.goodput_per_s:,.1f}"]
            rows.append([name, f"{delay_s:g}", f"{clock_s:+g}", *figures, f"{ratio:.2f}", f"{ours.changes:.3g}"])
    head = ["scenario", "data s old", "clock ahead, s", "p99 ms", "goodput/s", "held", "ratio", "changes"]
    return f"Bar: none under {LEAST} of the size held; {worse} are.\n\n{markdown(head, rows)}"
