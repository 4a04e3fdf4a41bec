"""Random services, laws and loads: scenarios that nobody drew, for what must hold for more than the drawn ones.

    python -m bench generate --seeds 1000..1199 --to DIR       # a scenario file each
    python -m bench generate --seeds 1000..1199 --check        # in how many of them holding the first size loses

Seeds 1000 to 1199 are held out: no constant of Sluice, and none of this file, may be set on what they give. Whoever
tunes takes others. What is drawn comes from a stream of its own, apart from all others of tests and benches.

Every load saturates, whatever the size: users are as many as the service at its best size just serves within the SLO
(`testbed/single/capacity.py`), and between 15 and 40 % of the time all of them are there. Where the first size does a
tenth less than the best one, waits then pass the SLO. How much less the first size does is not looked at.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.best_fixed import best_fixed, held
from testbed.single.capacity import throughput
from testbed.single.reading import write
from testbed.single.scenario import Scenario

HELD_OUT = range(1000, 1200)
SECONDS, WARM_UP_S = 600, 10
MOST = 192
LAWS = {"usl": 0.4, "cliff": 0.2, "convoy": 0.2, "pauses": 0.2}
STAND_ALONE, DEPENDS, SCALED, DRIFTS = 0.5, 0.25, 0.25, 0.25
"""Shares: of the other laws those that come without the universal scalability law; of all those with a dependency, a
scaler of cores, an event."""


def scenario(seed: int) -> Scenario:
    return _Draw(seed).scenario()


def step(seed: int, at_s: float, seconds: float) -> Scenario:
    """The same service under a twentieth of what its best size can serve, and from ``at_s`` on under all of it.

    Without what else may happen: no event, and no scaler but all the cores that it would give.
    """
    drawn = scenario(seed)
    load = [[0.0, 0.05], [at_s, 0.05], [at_s, 1.0]]
    service = drawn.service
    if drawn.scaler:
        service = service.model_copy(update={"cores": drawn.scaler.highest})
    return drawn.model_copy(update={"load": load, "seconds": seconds, "service": service, "scaler": None, "events": []})


class _Draw:
    """One scenario, part after part: each needs what was drawn before it."""

    def __init__(self, seed: int) -> None:
        self._name = f"generated-{seed}"
        self._rng = random.Random(f"bench/generate/{seed}")
        self._numbers = np.random.default_rng(self._rng.getrandbits(64))

    def scenario(self) -> Scenario:
        rng = self._rng
        cores = rng.choice((1, 2, 4, 8))
        document: dict[str, Any] = {"name": self._name, "seconds": SECONDS, "warm_up_s": WARM_UP_S}
        document |= self._service(cores)
        scaled = rng.random() < SCALED
        most_cores = 2.0 * cores if scaled else float(cores)
        best, most = self._best(document, most_cores)
        document |= self._users(document, best, most)
        points = self._load()
        if scaled:
            document["scaler"] = {"lowest": cores, "highest": 2 * cores, "step": cores, "every_s": 5}
        if rng.random() < DRIFTS:
            event = {"at_s": round(SECONDS * rng.uniform(0.3, 0.6)), "compute": self._factor(0.6, 1.7)}
            event["wait"] = self._factor(0.4, 3.0)
            document["events"] = [event]
            points = self._fitted(points, event, document, most_cores, most)
        document["load"] = points
        return Scenario.model_validate(document)

    def _service(self, cores: int) -> dict[str, Any]:
        """Its time on the CPU follows from what it can do a second, its wait from the size that fills the cores."""
        rng = self._rng
        capacity = self._log(100, 1000)
        compute_ms = 1e3 * cores / capacity
        filled = self._log(1.3 * cores, min(60.0, 14.0 * cores))
        wait_ms = compute_ms * (filled / cores - 1)
        kind = rng.choices(list(LAWS), list(LAWS.values()))[0]
        law: dict[str, Any] = {"kind": kind}
        if kind == "cliff":
            law |= {"at": self._round(cores * self._log(1.5, 5)), "cost": self._round(self._log(0.02, 0.1))}
        elif kind == "convoy":
            law |= {"at": self._round(self._log(2, 12)), "cost": self._round(1e3 / capacity * self._log(0.7, 1.5))}
        elif kind == "pauses":
            law |= {"at": self._round(filled * rng.uniform(0.7, 2)), "cost": self._round(self._log(20, 80))}
        service = {
            "cores": cores,
            "compute_ms": self._round(compute_ms),
            "wait_ms": self._round(wait_ms),
            "sigma": self._round(rng.uniform(0.2, 1.0)),
            "threads": round(self._log(2, 128)),
        }
        if kind == "usl" or rng.random() > STAND_ALONE:
            service["contention"] = self._round(self._log(0.003, 0.03))
            service["crosstalk"] = self._round(self._log(0.05, 0.5) / filled**2)
        parts: dict[str, Any] = {"service": service, "law": law}
        if rng.random() < DEPENDS:
            ms = wait_ms * rng.uniform(0.3, 0.9)
            service["wait_ms"] = self._round(wait_ms - ms)
            parts["dependency"] = {
                "slots": math.ceil(capacity * ms / 1e3 * rng.uniform(1.1, 3)),
                "ms": self._round(ms),
            }
        return parts

    def _best(self, document: dict[str, Any], cores: float) -> tuple[int, float]:
        """The size that does most, and how much, a second."""
        whole = {"slo_ms": 1, "users": 1, "think_s": 1, "load": [[0, 1]]} | document
        done = throughput(Scenario.model_validate(whole), MOST, cores)
        return int(done.argmax()) + 1, float(done.max())

    def _users(self, document: dict[str, Any], best: int, most: float) -> dict[str, Any]:
        """The SLO is some times what a request takes in a full pool of the best size; at the peak a part of it is
        spent before the pool: users = X (think + part * SLO)."""
        slo_s = best / most * self._log(3, 12)
        think_s = min(max(slo_s * self._log(4, 20), 0.3), 8.0)
        users = most * (think_s + self._rng.uniform(0.1, 0.5) * slo_s)
        return {"slo_ms": self._round(slo_s * 1e3), "users": max(1, round(users)), "think_s": self._round(think_s)}

    def _load(self) -> list[list[float]]:
        """Levels that follow each other by an AR(1) process, with bursts, the highest of them cut off at 1.0."""
        rng = self._rng
        dwell = self._log(5, 40)
        count = math.ceil(SECONDS / dwell) + 1
        memory, burst = rng.uniform(0.5, 0.95), rng.uniform(0.0, 0.15)
        steps = self._numbers.normal(size=count)
        level, levels = float(steps[0]), []
        usual, spread = rng.uniform(0.4, 0.7), rng.uniform(0.1, 0.3)
        for step in steps:
            level = memory * level + math.sqrt(1 - memory * memory) * float(step)
            levels.append(usual + spread * level + (0.5 if rng.random() < burst else 0.0))
        full = max(float(np.quantile(levels, 1 - rng.uniform(0.15, 0.4))), 0.2)
        return [[round(i * dwell, 1), round(min(max(item / full, 0.1), 1.0), 3)] for i, item in enumerate(levels)]

    def _fitted(
        self, points: list[list[float]], event: dict[str, float], document: dict[str, Any], cores: float, most: float
    ) -> list[list[float]]:
        """From an event on the load is as large a part of what the service can then do as before."""
        service = document["service"]
        after = service | {"compute_ms": service["compute_ms"] * event["compute"]}
        after["wait_ms"] = service["wait_ms"] * event["wait"]
        share = self._best(document | {"service": after}, cores)[1] / most
        return [[at, round(level * share, 3) if at >= event["at_s"] else level] for at, level in points]

    def _factor(self, low: float, high: float) -> float:
        return self._round(self._log(low, high))

    def _log(self, low: float, high: float) -> float:
        """Log-uniform."""
        return low * math.exp(math.log(high / low) * self._rng.random())

    def _round(self, value: float) -> float:
        """To three digits, as people write."""
        return float(f"{value:.3g}")


def loss_of_holding(seed: int) -> float:
    """Part of the best size's goodput that the first size loses; the best is chosen on another seed."""
    drawn = scenario(seed)
    best = held(drawn, best_fixed(drawn, (11,)).size, 1)
    return 1.0 - held(drawn, drawn.service.threads, 1).goodput_per_s / best.goodput_per_s


def check(seeds: Iterable[int], processes: int) -> str:
    """In how many it loses 5 % or more, by law."""
    drawn = list(seeds)
    with ProcessPoolExecutor(processes) as pool:
        losses = list(pool.map(loss_of_holding, drawn))
    laws = [scenario(seed).law.kind for seed in drawn]
    lines = ["| law | scenarios | holding the first size loses 5 % or more | median loss |", "|---|---|---|---|"]
    for law in ("all", *LAWS):
        mine = [loss for loss, its in zip(losses, laws, strict=True) if law in ("all", its)]
        if mine:
            lines.append(f"| {law} | {len(mine)} | {sum(item >= 0.05 for item in mine)} | {np.median(mine):.0%} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench generate", description="Random services, laws and loads.")
    parser.add_argument("--seeds", type=_range, required=True, metavar="FIRST..LAST", help="1000..1199 are held out")
    parser.add_argument("--to", type=Path, metavar="DIR", help="write a scenario file for each")
    parser.add_argument("--check", action="store_true", help="in how many of them holding the first size loses")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default 2")
    options = parser.parse_args(arguments)
    if not (options.to or options.check):
        parser.error("nothing to do: give --to DIR or --check")
    if options.to:
        options.to.mkdir(parents=True, exist_ok=True)
        for seed in options.seeds:
            drawn = scenario(seed)
            (options.to / f"{drawn.name}.yaml").write_text(write(drawn))
        print(f"wrote {len(options.seeds)} scenarios to {options.to}", file=sys.stderr)
    if options.check:
        print(check(options.seeds, options.processes))


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"{text!r} is not legal; legal: two integers, as 1000..1199")
    return range(int(first), int(last) + 1)
