"""The size that an answer names by a sample: its regret, once as many spans were seen as at 100 %.

The load goes from a fifth to all of what the best size serves, and back, each two minutes. The pool has twice the best
size and keeps it, so its evidence is of that size and of the concurrency that the load makes. A run is 1/kept times as
long. At 100 % the same size is held, and the belief's best size counts. Regret is by the service's throughput when its
pool is full (`testbed/single/capacity.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bench import generate
from bench.controllers.collected import starts_of
from bench.decision.summary import markdown
from bench.racing import BOUNDS, starting_at
from bench.sampled import SampledRun
from bench.scenarios import scenario
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import Buckets, Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice.pools.sampling.verdict import sampling_of
from testbed.single.capacity import throughput
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

KEPT = (1.0, 0.5, 0.2, 0.1, 0.01)
LEAST_SCALED = 0.1
"""With less kept, a run is as long as with this: nothing is named there."""
SECONDS, HALF_WAVE_S, MADE, SEEDS = 360.0, 60.0, (21, 22, 23, 24, 25, 26), (1, 2)
BUCKET_MS, LARGEST, KEPT_BUCKETS = 100, 192, 800


@dataclass(frozen=True)
class Named:
    """What answers name in the second half of a run. sizes: one a second, None where none is named. causes: why not."""

    sizes: tuple[int | None, ...]
    causes: Counter[str]
    actions: frozenset[str]

    def regrets(self, rate: Floats) -> list[float]:
        """rate: throughput at sizes 1, 2, 3 and so on."""
        return [float(1 - rate[size - 1] / rate.max()) for size in self.sizes if size is not None]


def waves(load: Scenario, threads: int, seconds: float) -> Scenario:
    points = tuple((at * HALF_WAVE_S, (0.2, 1.0)[at % 2]) for at in range(int(seconds / HALF_WAVE_S) + 2))
    more = {"seconds": seconds, "load": points, "scaler": None, "events": ()}
    return starting_at(load, threads).model_copy(update=more)


def named(load: Scenario, kept: float, seed: int) -> Named:
    decisions = list(decided(load, kept, seed))
    late = decisions[len(decisions) // 2 :]
    causes = Counter(_cause(each) for each in late if each.unguarded is None)
    return Named(tuple(each.unguarded for each in late), causes, frozenset(each.action.value for each in decisions))


def _cause(decision: Decision) -> str:
    code, text = decision.reasons[-1]
    return re.sub(r"\d+", "N", text.partition(": ")[2]) if code == "NOT_SCALED" else code


def decided(load: Scenario, kept: float, seed: int) -> Iterator[Decision]:
    """The decision of each second. Nothing is applied."""
    run = SampledRun(load, seed, kept, 0.0)
    run.until(load.seconds)
    sampling = sampling_of(tuple(run.horizons(load.seconds)))
    run.thinned(True)
    windows = run.windows(0, load.seconds, BUCKET_MS, load.slo_ms)
    count, threads = len(windows.sizes), float(load.service.threads)
    in_flight, done = windows.own.busy_ns / windows.length_ns, windows.own.completions.astype(np.float64)
    sizes, cores = np.full(count, threads), np.full(count, load.service.cores)
    whole = Buckets(starts_of(windows), in_flight, done, BUCKET_MS / 1_000, sizes, cores)
    unsized = whole if sampling is None else Buckets(whole.start_ms, in_flight, done, whole.bucket_s)
    state = PoolState()
    for second in range(1, int(load.seconds) + 1):
        at = slice(max(0, 10 * second - KEPT_BUCKETS), 10 * second)
        observation = Observation(
            sizes={"a": load.service.threads},
            buckets=unsized.take(at).since(state.learnt.until_ms),
            cores=load.service.cores,
            slo_s=load.slo_ms / 1_000,
            constraints=Constraints(*BOUNDS),
            sampling=sampling,
            sampled=None if sampling is None else whole.take(at),
        )
        state, decision = step(state, observation, 1_000 * second)
        yield decision


def services(made: Collection[int] = MADE) -> Mapping[str, Scenario]:
    """The one of the drawn workloads from 60 and 20 threads, and made ones, each from twice its best size."""
    found = {f"cart from {threads}": starting_at(scenario("large_variation"), threads) for threads in (60, 20)}
    for seed in made:
        drawn = generate.scenario(seed)
        threads = min(LARGEST, 2 * (int(np.argmax(throughput(drawn, LARGEST))) + 1))
        found[f"{drawn.name} ({drawn.law.kind}) from {threads}"] = starting_at(drawn, threads)
    return found


def report(loads: Mapping[str, Scenario], seeds: Collection[int], seconds: float = SECONDS) -> str:
    """A row a service and kept share."""
    rows = []
    for name, load in loads.items():
        rate = throughput(load, LARGEST)
        here = f"{100 * (1 - rate[load.service.threads - 1] / rate.max()):.0f} %"
        for kept in KEPT:
            run = waves(load, load.service.threads, seconds / max(kept, LEAST_SCALED))
            runs = [named(run, kept, seed) for seed in seeds]
            regrets = [regret for each in runs for regret in each.regrets(rate)]
            share = len(regrets) / sum(len(each.sizes) for each in runs)
            sizes = sorted({size for each in runs for size in each.sizes if size is not None})
            between = f"{sizes[0]} to {sizes[-1]}" if sizes else "none"
            errors = [f"{100 * of(regrets):.1f} %" if regrets else "" for of in (np.median, np.max)]
            causes = sum((each.causes for each in runs), Counter()).most_common(1)
            applied = "" if kept == 1 else str(sum("APPLY" in each.actions for each in runs))
            best = str(int(np.argmax(rate)) + 1)
            rows.append(
                [
                    name,
                    here,
                    best,
                    f"{100 * kept:g} %",
                    f"{100 * share:.0f} %",
                    between,
                    *errors,
                    applied,
                    causes[0][0] if causes else "",
                ]
            )
    head = [
        "service",
        "regret in force",
        "best",
        "kept",
        "named",
        "sizes",
        "median regret",
        "most",
        "runs with APPLY",
        "most frequent cause of none",
    ]
    return f"Seeds: {len(seeds)}; {seconds:g} s / kept, the second half counts.\n\n{markdown(head, rows)}"


def run(quick: bool = False) -> str:
    return report(services(MADE[:1] if quick else MADE), SEEDS[:1] if quick else SEEDS)
