"""A sample of the traces: what the shipped loop does to a pool of which it is given a part of the requests.

A head sampler keeps requests by their trace id, as OpenTelemetry's Java SDK does. The loop reads their windows, and
judges their ids as it does on ClickHouse, from windows of 10 s that are as old as its data. `unaware`: the same loop
without that, as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.controllers.collected import Collected
from bench.controllers.in_loop import DELAY_S, PERIOD_S, InLoop, Sized, window_s
from bench.decision.summary import markdown
from bench.decision.workloads import scenario
from bench.racing import BOUNDS, figures, starting_at
from sluice.model.keys import PoolKey
from sluice.pools.sampling.query import LONGEST_S, NEWEST_S
from sluice.pools.sampling.trace_ids import TraceIds
from sluice.pools.sampling.verdict import Sampling, ServiceSpans, sampling_of
from testbed.single.names import POOL, SERVICE
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario
from testbed.tiers.run import ENDED, Floats

KEPT = (0.5, 0.2, 0.1, 0.01)
WINDOW_S = 10
WORKLOADS, SECONDS, BEGINS_S = ("large_variation", "steep_tri_phase"), 150.0, 60.0


class SampledRun(FastRun):
    """`rows` has all requests, `seen` those whose traces were kept."""

    def __init__(self, scenario: Scenario, seed: int, kept: float, since_s: float) -> None:
        """kept: of the requests that end at `since_s` or later."""
        super().__init__(scenario, seed)
        self._kept, self._since_s = kept, since_s
        self._random, self._thinned = np.random.default_rng(seed), False
        self._ids = np.zeros((0, 2), dtype=np.uint64)

    def ids(self) -> NDArray[np.uint64]:
        """Both halves of the trace id of each finished request, shape (finished, 2)."""
        new = self.finished - len(self._ids)
        drawn = self._random.integers(0, 2**64, (new, 2), dtype=np.uint64)
        self._ids = np.concatenate([self._ids, drawn])
        return self._ids

    def is_kept(self) -> NDArray[np.bool_]:
        if self._kept == 1.0:
            return np.ones(self.finished, dtype=bool)
        low = self.ids()[:, 1] % np.uint64(2**63) < np.uint64(self._kept * 2**63)
        return low | (super().rows[:, ENDED] < self._since_s)

    @property
    def rows(self) -> Floats:
        rows = super().rows
        return rows[self.is_kept()] if self._thinned else rows

    def thinned(self, thinned: bool) -> None:
        """Whether windows count kept requests only."""
        self._thinned = thinned

    def horizons(self, until_s: float) -> Iterator[ServiceSpans]:
        """What `service_sampling` has at this time, for each horizon of the decider's query."""
        ended, ids, kept = super().rows[:, ENDED], self.ids(), self.is_kept()
        newest_s = (until_s // WINDOW_S + 1) * WINDOW_S
        for low_s, high_s in ((newest_s - NEWEST_S, newest_s), (newest_s - LONGEST_S, newest_s - NEWEST_S)):
            chosen = ids[kept & (ended >= low_s) & (ended < min(high_s, until_s))]
            if count := len(chosen):
                big_endian = (row.astype(">u8").tobytes() for row in chosen)
                yield ServiceSpans(count, 0, 1_024 * count, 0, TraceIds.of(big_endian))


class _Aware(Collected):
    def __init__(self, run: SampledRun) -> None:
        super().__init__()
        self._run = run

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]:
        horizons = tuple(self._run.horizons(self._run.now - DELAY_S))
        return {SERVICE: sampling_of(horizons)} if horizons and SERVICE in services else {}


@dataclass(frozen=True)
class Outcome:
    """changes: of the size, since the sampler began. good: responses within the SLO, a second. held: the same of the
    first size."""

    changes: int
    good: float
    held: float
    codes: frozenset[str]


def drive(scenario: Scenario, kept: float, seed: int, since_s: float = 0.0, *, aware: bool = True) -> Outcome:
    run = SampledRun(scenario, seed, kept, since_s)
    key = PoolKey(SERVICE, "server", "")
    sized = Sized(POOL, key, run.size, SERVICE, run.cores, scenario.slo_ms, BOUNDS)
    loop = InLoop([sized], collected=_Aware(run) if aware else None)
    for turn in range(1, int(scenario.seconds / PERIOD_S) + 1):
        now = turn * PERIOD_S
        run.until(now)
        until = max(0.0, now - DELAY_S)
        run.thinned(True)
        windows = run.windows(max(0.0, until - window_s()), until, 100, scenario.slo_ms_at(now))
        run.thinned(False)
        for wanted in loop.decide(now, {POOL: windows}).values():
            if wanted != run.size:
                run.resize(wanted)
    codes = frozenset(answer.codes[0] for answer in loop.course(POOL))
    held = FastRun(scenario, seed)
    held.until(scenario.seconds)
    good = (figures(scenario, *each.outcomes())[2] for each in (run, held))
    return Outcome(sum(at_s >= since_s for at_s, _ in run.history[1:]), *good, codes)


def report(
    scenarios: Mapping[str, Scenario],
    seeds: Collection[int],
    kept: Collection[float] = KEPT,
    begins_s: float = BEGINS_S,
) -> str:
    """A row a scenario and kept share."""
    rows = []
    for name, load in scenarios.items():
        for share in kept:
            cells = [name, f"{100 * share:g} %"]
            for since_s, aware in ((0.0, True), (begins_s, True), (begins_s, False)):
                outcomes = [drive(load, share, seed, since_s, aware=aware) for seed in seeds]
                ratios = [outcome.good / max(outcome.held, 1e-9) for outcome in outcomes]
                changes = [outcome.changes for outcome in outcomes]
                cells += [f"{np.mean(changes):.1f} ({max(changes)})", f"{np.mean(ratios):.2f} ({min(ratios):.2f})"]
            rows.append(cells)
    head = ["workload", "kept", "from the start: changes", "goodput", f"from {begins_s:g} s on: changes", "goodput"]
    head += ["unaware: changes", "goodput"]
    about = "Goodput by that of the first size, held. Means, and the most changes and the least goodput of one seed."
    return f"Seeds: {len(seeds)}. {about}\n\n{markdown(head, rows)}"


def run(quick: bool = False) -> str:
    """Two of the six workloads from 60 and 10 threads, their first minutes."""
    names, seeds = (WORKLOADS[:1], (1,)) if quick else (WORKLOADS, (1, 2, 3))
    scenarios = {
        f"{name} from {threads}": starting_at(scenario(name), threads).model_copy(update={"seconds": SECONDS})
        for name in names
        for threads in (60, 10)
    }
    return report(scenarios, seeds)
