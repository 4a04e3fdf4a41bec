"""Whether Sluice keeps a pool for longer than a minute at a size that completes less than 0.7 of what the operator's
would, in the worlds of an adversary (`testbed.adversary`).

    python -m bench adversary --seeds 0..9999          # the seeds in which it does
    python -m bench adversary --honest                 # spans tell what is in flight, and any demand counts

`step` is driven with windows of those worlds, a period each second, and its answers go through the actuator's rules.
Held against the operator's size are seconds that were told of, whose demand is comparable to what was seen at that
size: up to 1.25 times as large, or any where the size was known not to do what was asked. What it owes is the least of
what it would do now and what it did when it was last in force, less what counts of so few requests cannot tell: what
nothing tells of, nobody can know. Of an honest world a full pool and waiting callers tell, so that a demand that was
never seen at the operator's size counts too.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from math import exp, inf, sqrt

import numpy as np

from bench.controllers.applied import Applied
from sluice.model.demand import Demand
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import Buckets, Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice.pools.publication.publication import Content
from testbed.adversary.draw import world
from testbed.adversary.world import Second, World, true_of

LONGEST_S, LEAST, COMPARABLE = 60, 0.7, 1.25
# Seconds of counts that a size is judged by, and that the operator's was seen for, in one stay: at most, at least.
OVER_S, SEEN_S, LEAST_S = 30, 10, 3
# Fewer a second than that are not told from none.
FEWEST_PER_S = 2.0
SLO_S, TARGET = 1.0, "target"
ORIGIN_S = 1_000
PER_S = 10
Decides = Callable[[PoolState, Observation, int], tuple[PoolState, Decision]]


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
    """The operator's size when it was last in force for 3 s, the newest 10 s of it: (good a second, demand). A service
    may be another one than when it was in force before.
    """

    newest: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=SEEN_S))
    stay: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=SEEN_S))

    def add(self, second: tuple[float, float], first: bool) -> None:
        """first: it was not in force in the second before."""
        self.stay = deque([second], SEEN_S) if first else self.stay
        if not first:
            self.stay.append(second)
        if len(self.stay) >= LEAST_S or not self.newest:
            self.newest = self.stay

    def at(self, demand_per_s: float) -> float:
        """What it is known to do at a demand; infinite where nothing is."""
        if not self.newest:
            return inf
        good = float(np.mean([good for good, _ in self.newest]))
        usual = float(np.mean([demand for _, demand in self.newest]))
        return good if good < 0.98 * usual or demand_per_s <= COMPARABLE * usual else inf


def owes(due_per_s: float) -> float:
    """What a size has to do where the operator's does that: 0.7 of it, less two standard deviations of the counts.

    Worked: 100 a second: 70 - 2 sqrt(70 / 30 + 0.49 * 100 / 10) = 64.6. Under 2 a second nothing.
    """
    if due_per_s < FEWEST_PER_S:
        return 0.0
    return LEAST * due_per_s - 2 * sqrt(LEAST * due_per_s / OVER_S + LEAST**2 * due_per_s / SEEN_S)


class Driven:
    """A world with `step` in it. sizes: in force in each second; decisions: of each period. any_demand: one that was
    never seen at the operator's size counts too. decides: in place of `step`."""

    def __init__(self, of: World, any_demand: bool = False, decides: Decides = step) -> None:
        self.of, self._any_demand, self._decides = of, any_demand, decides
        self.sizes: list[int] = []
        self.decisions: list[Decision] = []
        self.worst = Kept()
        self._rng = np.random.default_rng(of.seed)
        self._state, self._actuator = PoolState(), Applied((1, of.most))
        self._size = self._operator = of.size
        self._since_s, self._was, self._worse_s = 0, _Was(), 0
        self._rows: deque[tuple[float, ...]] = deque()
        self._asked: deque[tuple[float, float, float, float]] = deque(maxlen=60)

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
            self._was.add((truth.good_per_s, phase.demand_per_s), second == self._since_s)
            self._worse_s = 0
            return
        would = true_of(phase, self._operator).good_per_s
        did = self._was.at(phase.demand_per_s)
        unknown = did == inf and self._was.newest and not self._any_demand
        worse = not unknown and owes(min(would, did)) > truth.good_per_s
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
        reported = float(tells.mean())
        waiting = max(0.0, truth.in_flight + truth.waiting - reported)
        self._asked.append((phase.demand_per_s, truth.good_per_s, reported, waiting))

    def _decide(self, now_s: int) -> None:
        now_ms = 1_000 * (now_s + ORIGIN_S)
        observation = Observation(
            sizes={TARGET: self._size},
            buckets=self._buckets(now_s),
            cores=0.0,
            slo_s=SLO_S,
            constraints=Constraints(1, self.of.most),
            demand=self._demand(now_s, now_ms),
        )
        self._state, decision = self._decides(self._state, observation, now_ms)
        self.decisions.append(decision)
        wanted = self._actuator.size(content_of(decision, self._size), self._size, now_ms)
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
        known_ms = float(end_s[-1] + shift_s) * 1_000 if len(end_s) else inf
        return Buckets(
            start_ms=start_ms,
            concurrency=tells * (1 - missing),
            completions=good + failed,
            size=size,
            cores=np.zeros(len(size)),
            bucket_s=1 / PER_S,
            errors=failed,
            known_ms=known_ms,
        )

    def _demand(self, now_s: int, now_ms: int) -> Demand | None:
        """A new one each 10 s, of the last minute that was told of."""
        if now_s % 10 or len(self._asked) < 30:
            return None
        demand, good, reported, waiting = (float(np.mean(column)) for column in zip(*self._asked, strict=True))
        in_time = min(1.0, good / demand) if demand else None
        return Demand(until_ms=now_ms, asked_per_s=demand, in_time=in_time, in_flight=reported, waiting=waiting)


def content_of(decision: Decision, current: int) -> Content:
    return Content(
        state=decision.state.value,
        current=current,
        target=decision.target,
        lower_bound=decision.lower,
        upper_bound=decision.upper,
        unguarded_target=decision.unguarded,
        codes=tuple(code for code, _ in decision.reasons),
        basis=decision.basis.value,
        action=decision.action.value,
    )


def kept(seed: int, honest: bool = False) -> Kept:
    return Driven(world(seed, honest), any_demand=honest).run()


def all_kept(seeds: Sequence[int], honest: bool = False, processes: int = 2) -> list[Kept]:
    """In the order of the seeds."""
    if processes == 1:
        return [kept(seed, honest) for seed in seeds]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(kept, seeds, [honest] * len(seeds), chunksize=25))


def longer(seeds: Sequence[int], honest: bool = False, processes: int = 2) -> dict[int, str]:
    """The seeds of those that were kept for too long, with what happened."""
    result = zip(seeds, all_kept(seeds, honest, processes), strict=True)
    return {
        seed: f"{longest.seconds} s up to second {longest.at_s}: {longest.per_s:.3g}/s at {longest.size}, "
        f"{longest.operator_per_s:.3g}/s at the operator's {longest.operator}"
        for seed, longest in result
        if longest.seconds > LONGEST_S
    }


def course(driven: Driven) -> str:
    """A line for the world, and for each period in which something else was said."""
    kept, lines = driven.run(), [f"{driven.of}"]
    before: tuple[object, ...] = ()
    for second, (size, decision) in enumerate(zip(driven.sizes, driven.decisions, strict=True)):
        now = size, decision.action.value, decision.target, decision.state.value, decision.reasons[0][0]
        if now != before:
            before = now
            lines.append(f"{second:4} " + " ".join(map(str, now)))
    return "\n".join([*lines, f"{kept}"])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench adversary", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0..199", metavar="FIRST..LAST", help="default 0..199")
    parser.add_argument("--honest", action="store_true", help="spans tell what is in flight, and any demand counts")
    parser.add_argument("--course", type=int, metavar="SEED", help="what was decided in this one, a line a change")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default 2")
    options = parser.parse_args(arguments)
    if options.course is not None:
        print(course(Driven(world(options.course, options.honest), any_demand=options.honest)))
        return
    first, _, last = options.seeds.partition("..")
    seeds = range(int(first), int(last) + 1)
    result = longer(seeds, options.honest, options.processes)
    for seed, text in result.items():
        print(f"seed {seed}: {text}")
    print(f"{len(result)} of {len(seeds)} longer than {LONGEST_S} s")
