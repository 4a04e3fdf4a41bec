"""The six workloads of Table 3 and the changes of 5.4, beside hardware alone, SCT and SCG as published, the default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.controllers.in_loop import InLoop
from bench.controllers.racers import HARDWARE, LEARNT, RACERS, SLUICE
from bench.decision.summary import markdown
from bench.decision.workloads import NAMES
from bench.dqn import session
from bench.dqn.sizers import Dqn
from bench.dqn.steps import guarded
from bench.kept import asked_seeds
from bench.racing import Racer, race, starting_at
from bench.scenarios import scenario
from sluice.model.keys import PoolKey
from sluice.pools.learned.settings import SETTINGS, LearnerSettings
from testbed.controller import Controller
from testbed.fine import PoolWindows
from testbed.single.names import POOL, SERVICE
from testbed.single.run import FastRun

CHANGES = ("slower_release", "faster_release", "twice_the_data")
ALONE = "dqn alone, data of now"
WHO = (SLUICE, LEARNT, ALONE, HARDWARE, "sct as published", "scg as published")
SEEDS, START = (1, 2, 3), 60
CART = PoolKey(SERVICE, "server", "")
SAYS = ("LEARNED", "EXPLORES", "HANDED_BACK", "NOT_LICENSED", "NOT_LEARNT")


class Sized:
    """The agent as the paper has it, without the belief and the evaluation, on data that are not late.

    slo_share: of the SLO, that it is told in its place.
    """

    def __init__(self, run: FastRun, seed: int, settings: LearnerSettings = SETTINGS, slo_share: float = 1.0) -> None:
        self._agent, self._share = Dqn(run, seed, settings), slo_share

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        seen = windows[POOL]
        told = replace(seen, threshold_ns=round(self._share * seen.threshold_ns))
        return {POOL: guarded(self._agent.size(told, now_s), seen.size)}


class Told:
    """The loop as shipped; counts what was said of each period."""

    def __init__(self, loop: InLoop) -> None:
        self._loop, self.said = loop, Counter[str]()

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        sizes = self._loop.decide(now_s, windows)
        for reason in self._loop.reasons(CART):
            if reason.code in SAYS:
                self.said[_why(reason.code, reason.text)] += 1
        return sizes


def _why(code: str, text: str) -> str:
    if code != "NOT_LICENSED":
        return code
    if "the size in force" in text and "worse" not in text:
        return "the size in force has the highest Q"
    return "the better one may be worse" if "worse" in text else "the better one was too seldom in force"


def racer(name: str, seed: int) -> Racer:
    if name != ALONE:
        return RACERS[name]
    return alone(seed)


def alone(seed: int, settings: LearnerSettings = SETTINGS, slo_share: float = 1.0) -> Racer:
    return Racer(lambda run: Sized(run, seed, settings, slo_share), 1.0, 10.0)


def run(task: tuple[str, str, int]) -> dict[str, Any]:
    """p95_ms, p99_ms, goodput_per_s, changes; said: of the agent's pool, in how many periods."""
    workload, name, seed = task
    chosen, watched = racer(name, seed), []  # type: tuple[Racer, list[Told]]

    def build(run: FastRun) -> Controller:
        of = chosen.build(run)
        if not isinstance(of, InLoop):
            return of
        watched.append(Told(of))
        return watched[0]

    found = race(starting_at(scenario(workload), START), name, replace(chosen, build=build), seed)
    said = dict(watched[0].said) if watched else {}
    return {
        "p95_ms": found.p95_ms,
        "p99_ms": found.p99_ms,
        "goodput_per_s": found.goodput_per_s,
        "changes": found.changes,
        "said": said,
    }


def report(names: Sequence[str] = (*NAMES, *CHANGES), given: Sequence[int] = SEEDS, keep: bool = True) -> str:
    """Seed by seed, so that an interrupted bench has whole ones."""
    seeds = asked_seeds(given) if keep else tuple(given)
    tasks = [(workload, name, seed) for seed in seeds for workload in names for name in WHO]
    found = session.runs("workloads", tasks, run, keep)
    rows, said = [], Counter[str]()
    for workload in names:
        row = [workload]
        for name in WHO:
            of = [found[workload, name, seed] for seed in seeds]
            p95, p99, good = (np.mean([each[key] for each in of]) for key in ("p95_ms", "p99_ms", "goodput_per_s"))
            row.append(f"{p95:,.0f}, {p99:,.0f} ms, {good:,.0f}/s")
        rows.append(row)
        for seed in seeds:
            said.update(found[workload, LEARNT, seed]["said"])
    ends = []
    for name in WHO:
        of_seeds = [
            np.exp(np.mean([np.log(found[w, name, s]["p99_ms"] / found[w, LEARNT, s]["p99_ms"]) for w in names]))
            for s in seeds
        ]
        good = np.mean([found[w, name, s]["goodput_per_s"] for w in names for s in seeds])
        spread = f"{min(of_seeds):.2f} to {max(of_seeds):.2f}"
        ends.append([name, f"{np.exp(np.mean(np.log(of_seeds))):.2f}", spread, f"{good:,.0f}"])
    periods = sum(said.values())
    shares = [[what, f"{count / periods:.1%}"] for what, count in said.most_common()] if periods else []
    return (
        f"p95, p99 and goodput, means over seeds {', '.join(map(str, seeds))}, from {START} threads.\n\n"
        f"{markdown(['workload', *WHO], rows)}\n"
        f"{markdown(['who', f'p99 / that of {LEARNT} (geometric mean)', 'by seed', 'goodput/s (mean)'], ends)}\n"
        f"What the agent of `{LEARNT}` said, of {periods:,} periods:\n\n{markdown(['what', 'periods'], shares)}"
    )
