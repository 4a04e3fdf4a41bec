"""Another CPU limit: an agent that knows 2 cores, and one that knows nothing, once there are 4 for twice the users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.decision.summary import markdown
from bench.dqn.convergence import FIXED, SEEDS, SHARE, Held, first
from bench.dqn.sizers import Dqn
from bench.dqn.steps import drive
from bench.scenarios import scenario
from testbed.fine import PoolWindows
from testbed.single.run import FastRun
from testbed.single.scenario import Event, Scenario

AT_S, STEPS = 120, 200


class Begun:
    """Holds the size until the limit changes, and begins then."""

    def __init__(self, run: FastRun, seed: int) -> None:
        self._agent = Dqn(run, seed)

    def size(self, seen: PoolWindows, now_s: float) -> int:
        return self._agent.size(seen, now_s) if now_s >= AT_S else 10


def doubled() -> Scenario:
    load = [[0.0, 0.5], [float(AT_S), 0.5], [AT_S + 1.0, 1.0]]
    given = scenario("static_load").model_dump() | {"users": 2400, "load": load}
    return Scenario.model_validate(given | {"events": [Event(at_s=float(AT_S), cores=2.0)]})


def report(seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> str:
    at_4 = doubled()
    means = [
        np.mean([each.reward for each in drive(at_4, lambda _: Held(n), 1, n, AT_S + 60)[AT_S + 20 :]])  # noqa: B023
        for n in (*FIXED, 24, 29, 35)
    ]
    best = float(max(means))
    rows = []
    for name, build in (("knows 2 cores", Dqn), ("begins then", Begun)):
        firsts, after = [], []
        for seed in seeds:
            of = drive(at_4, lambda run: build(run, seed), seed, 10, AT_S + steps)[AT_S:]  # noqa: B023
            firsts.append(first([each.reward for each in of], SHARE * best))
            after.append(np.mean([each.reward for each in of[:50]]))
        reached = [each for each in firsts if each is not None]
        mean = np.mean([each if each is not None else steps for each in firsts])
        rows.append([name, f"{mean:.0f}", f"{len(reached)} of {len(firsts)}", f"{np.mean(after) / best:.3f}"])
    head = ["agent", f"steps to {SHARE:.0%} of the best (mean)", "seeds that came there", "first 50 steps / best"]
    return markdown(head, rows)
