"""Whether Sluice keeps a pool for longer than a minute at a size that completes less than 0.7 of what the operator's
would, in the worlds of an adversary (`testbed.adversary`).

    python -m bench adversary --seeds 0..9999          # which seeds it does in; the longest of each

`step` is driven with windows of those worlds, a period each second, and its answers go through the actuator's rules.
Held against the operator's size are seconds that were told of, whose demand is comparable to what was seen at that
size: up to 1.25 times as large, or any where the size was known not to do what was asked. What it owes is the least of
what it would do now and what it did when it was last in force: what nothing tells of, nobody can know.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from math import exp, inf
from typing import Any

import numpy as np

from bench.controllers.applied import Applied
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import Buckets, Constraints, Demand, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from testbed.adversary.draw import world
from testbed.adversary.world import Second, World, true_of

LONGEST_S, LEAST, COMPARABLE = 60, 0.7, 1.25
# Fewer a second than that are not told from none.
FEWEST_PER_S = 2.0
SLO_S, TARGET = 1.0, "target"
ORIGIN_S = 1_000
PER_S = 10
OF_BUCKETS = {each.name for each in fields(Buckets)}


@dataclass(frozen=True)
class Kept:
    """The longest time on end that a pool was kept at a worse size: seconds, the last of them, and of it the size, the
    operator's, and what both do."""

    seconds: int = 0
    at_s: int = 0
    size: int = 0
    operator: int = 0
    per_s: float = 0.0
    operator_per_s: float = 0.0


@dataclass
class _Was:
    """What was seen at the operator's size, of the newest 10 s of it: (good a second, demand)."""

    seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=10))

    def at(self, demand_per_s: float) -> float:
        """What it is known to do at a demand; infinite where nothing is."""
        if not self.seen:
            return inf
        good = float(np.mean([good for good, _ in self.seen]))
        asked = float(np.mean([demand for _, demand in self.seen]))
        return good if good < 0.98 * asked or demand_per_s <= COMPARABLE * asked else inf


class Driven:
    """A world with `step` in it. sizes: in force in each second; decisions: of each period."""

    def __init__(self, of: World) -> None:
        self.of = of
        self.sizes: list[int] = []
        self.decisions: list[Decision] = []
        self.worst = Kept()
        self._rng = np.random.default_rng(of.seed)
        self._state, self._actuator = PoolState(), Applied((1, of.most))
        self._size = self._operator = of.size
        self._since_s, self._was, self._worse_s = 0, _Was(), 0
        self._rows: deque[tuple[float, ...]] = deque()
        self._asked: deque[tuple[float, float]] = deque(maxlen=60)

    def run(self) -> Kept:
        sets = dict(self.of.sets)
        for second in range(self.of.seconds):
            if second in sets:
                self._set(min(sets[second], self.of.most), second)
                self._operator, self._was = self._size, _Was()
            truth = self._truth(self._size, second)
            self._judge(truth, second)
            self._tell(truth, second)
            self.sizes.append(self._size)
            self._decide(second + 1)
        return self.worst

    def _set(self, size: int, second: int) -> None:
        if size != self._size:
            self._size, self._since_s = size, second

    def _truth(self, size: int, second: int) -> Second:
        trap, factor = self.of.trap, 1.0
        if trap is not None and size != self._operator and second - self._since_s >= trap.after_s:
            factor = trap.factor
        return true_of(self.of.phase(second), size, factor)

    def _judge(self, truth: Second, second: int) -> None:
        phase = self.of.phase(second)
        if phase.silent:
            return
        if self._size == self._operator:
            self._was.seen.append((truth.good_per_s, phase.demand_per_s))
            self._worse_s = 0
            return
        would = true_of(phase, self._operator).good_per_s
        due = min(would, self._was.at(phase.demand_per_s))
        due = would if due == inf and not self._was.seen else 0.0 if due == inf else due
        worse = due >= FEWEST_PER_S and truth.good_per_s < LEAST * due
        self._worse_s = self._worse_s + 1 if worse else 0
        if self._worse_s > self.worst.seconds:
            self.worst = Kept(self._worse_s, second, self._size, self._operator, truth.good_per_s, would)

    def _tell(self, truth: Second, second: int) -> None:
        """The second's buckets, as they come to be known."""
        phase, rng = self.of.phase(second), self._rng
        if phase.silent:
            return
        good = rng.poisson(truth.good_per_s / PER_S, PER_S)
        failed = rng.poisson(truth.failed_per_s / PER_S, PER_S)
        tells = truth.in_flight * phase.tells * np.maximum(0.0, rng.normal(1.0, phase.jitter, PER_S))
        for number in range(PER_S):
            end_s = second + (number + 1) / PER_S
            self._rows.append((end_s, float(tells[number]), float(good[number]), float(failed[number]), self._size))
        self._asked.append((phase.demand_per_s, truth.good_per_s))

    def _decide(self, now_s: int) -> None:
        now_ms = 1_000 * (now_s + ORIGIN_S)
        seen = Observation(
            sizes={TARGET: self._size},
            buckets=self._buckets(now_s),
            cores=0.0,
            slo_s=SLO_S,
            constraints=Constraints(1, self.of.most),
            demand=self._demand(now_s, now_ms),
        )
        self._state, decision = step(self._state, seen, now_ms)
        self.decisions.append(decision)
        wanted = self._actuator.size(decision.action.value, decision.target, self._size, now_ms)
        if wanted is not None:
            self._set(wanted, now_s)

    def _buckets(self, now_s: int) -> Buckets:
        """Those that are as old as the delay. What has not ended is missing in young ones: of times with the mean b, in
        a bucket of the age a, exp(-a / b)."""
        came = []
        while self._rows and self._rows[0][0] <= now_s - self.of.delay_s + 1e-9:
            came.append(self._rows.popleft())
        end_s, tells, good, failed, size = np.array(came).reshape(-1, 5).T
        shift_s = ORIGIN_S + self.of.clock_s
        start_ms = np.rint((end_s - 1 / PER_S + shift_s) * 1_000).astype(np.int64)
        stay_s = 1 / self.of.phase(now_s - 1).curve.unit
        missing = np.array([exp(-(now_s - end) / stay_s) for end in end_s])
        known: dict[str, Any] = {"errors": failed}
        if "known_ms" in OF_BUCKETS and len(end_s):
            known["known_ms"] = float(end_s[-1] + shift_s) * 1_000
        return Buckets(start_ms, tells * (1 - missing), good + failed, size, np.zeros(len(size)), 1 / PER_S, **known)

    def _demand(self, now_s: int, now_ms: int) -> Demand | None:
        """A new one each 10 s, of the last minute that was told of."""
        if now_s % 10 or len(self._asked) < 30:
            return None
        asked, good = (float(np.mean(each)) for each in zip(*self._asked, strict=True))
        return Demand(now_ms, asked, min(1.0, good / asked) if asked else None)


def kept(seed: int) -> Kept:
    return Driven(world(seed)).run()


def all_kept(seeds: Sequence[int], processes: int = 2) -> list[Kept]:
    if processes == 1:
        return [kept(seed) for seed in seeds]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(kept, seeds, chunksize=25))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench adversary", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0..199", metavar="FIRST..LAST", help="default 0..199")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default 2")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("..")
    seeds = range(int(first), int(last) + 1)
    found = list(zip(seeds, all_kept(seeds, options.processes), strict=True))
    longer = [(seed, each) for seed, each in found if each.seconds > LONGEST_S]
    for seed, each in longer:
        did = f"{each.per_s:.3g}/s at {each.size}, {each.operator_per_s:.3g}/s at {each.operator}"
        print(f"seed {seed}: {each.seconds} s up to second {each.at_s}: {did}")
    print(f"{len(longer)} of {len(found)} longer than {LONGEST_S} s")


if __name__ == "__main__":
    main([])
