"""The six bursty workloads of ConScale and Sora, from four starts: p99 and goodput beside everyone's best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.best_fixed import CHOSEN_ON
from bench.controllers.racers import SIZES, SLUICE
from bench.decision.lineup import EVERYONE, LATE, PUBLISHED, WITHOUT
from bench.decision.summary import ENOUGH, Summary, best_p99, markdown, summary
from bench.race import Task, run_all
from bench.racing import Result, starting_at
from bench.scenarios import scenario

NAMES = ("large_variation", "quickly_varying", "slowly_varying", "big_spike", "dual_phase", "steep_tri_phase")
STARTS = (5, 20, 60, 128)
P99_BAR, GOODPUT_BAR, AHEAD_BAR = 1.25, 0.99, 20


@dataclass(frozen=True)
class Cell:
    """One workload from one start."""

    workload: str
    start: int
    of: Mapping[str, Summary]
    """By racer; the best fixed sizes among them, by their names."""
    fixed: Sequence[str]

    @property
    def ours(self) -> Summary:
        return self.of[SLUICE]

    @property
    def rivals(self) -> dict[str, Summary]:
        return {name: self.of[name] for name in (*LATE, *self.fixed)}

    @property
    def best(self) -> str:
        return best_p99(self.rivals)

    @property
    def p99_ratio(self) -> float:
        return self.ours.p99_ms / self.of[self.best].p99_ms

    @property
    def goodput_ratio(self) -> float:
        return self.ours.goodput_per_s / max(rival.goodput_per_s for rival in self.rivals.values())

    def behind(self, names: Sequence[str]) -> list[str]:
        """Those who do not lose to ours: less p99, with enough goodput to count."""
        counted = {name: self.of[name] for name in (*names, SLUICE)}
        most = max(item.goodput_per_s for item in counted.values())
        return [
            name
            for name in names
            if self.of[name].p99_ms <= self.ours.p99_ms and self.of[name].goodput_per_s >= ENOUGH * most
        ]


def cells(
    names: Sequence[str], starts: Sequence[int], seeds: Sequence[int], racers: Sequence[str] = EVERYONE
) -> list[Cell]:
    """racers: who is run beside the best fixed sizes; ours and those of `LATE` at least."""
    best = {name: _best_sizes(name) for name in names}
    tasks, keys = [], []
    for name in names:
        for start in starts:
            for racer in (*racers, *best[name]):
                tasks += [Task(starting_at(scenario(name), start), racer, seed) for seed in seeds]
                keys += [(name, start, racer)] * len(seeds)
    results: dict[tuple[str, int, str], list[Result]] = {}
    for key, result in zip(keys, run_all(tasks), strict=True):
        results.setdefault(key, []).append(result)
    return [
        Cell(name, start, {racer: summary(results[name, start, racer]) for racer in (*racers, *best[name])}, best[name])
        for name in names
        for start in starts
    ]


def _best_sizes(name: str) -> list[str]:
    """The held sizes with the most goodput and with the least p99, on the seeds that are for choosing."""
    tasks = [Task(scenario(name), f"fixed {size}", seed) for size in SIZES for seed in CHOSEN_ON]
    results = run_all(tasks)
    by_racer = {f"fixed {size}": summary([r for r in results if r.racer == f"fixed {size}"]) for size in SIZES}
    return list(dict.fromkeys([max(by_racer, key=lambda item: by_racer[item].goodput_per_s), best_p99(by_racer)]))


def report(cells: Sequence[Cell]) -> str:
    return f"{judged(cells)}\n{worth(cells)}\n{everyone(cells)}"


def judged(cells: Sequence[Cell]) -> str:
    """Beside whom the bars name."""
    head = ["workload", "from", "best of rivals and fixed sizes: p99", "p99 ms (worst)", "p99 / best"]
    head += ["goodput/s (worst)", "goodput / best", "changes", "rivals not behind"]
    rows = [
        [
            cell.workload,
            f"{cell.start}",
            f"{cell.best}: {cell.of[cell.best].p99_ms:,.0f}",
            f"{cell.ours.p99_ms:,.0f} ({cell.ours.worst_p99_ms:,.0f})",
            f"{cell.p99_ratio:.2f}",
            f"{cell.ours.goodput_per_s:,.0f} ({cell.ours.worst_goodput_per_s:,.0f})",
            f"{cell.goodput_ratio:.3f}",
            f"{cell.ours.changes:.3g}",
            ", ".join(cell.behind(LATE)) or "none",
        ]
        for cell in cells
    ]
    return f"{markdown(head, rows)}\n{bars(cells)}"


def bars(cells: Sequence[Cell]) -> str:
    total = len(cells)
    p99 = sum(cell.p99_ratio <= P99_BAR for cell in cells)
    goodput = sum(cell.goodput_ratio >= GOODPUT_BAR for cell in cells)
    ahead = sum(not cell.behind(LATE) for cell in cells)
    published = sum(not cell.behind(PUBLISHED) for cell in cells)
    rows = [
        [f"p99 <= {P99_BAR} x the best", f"{p99} of {total}, worst {max(cell.p99_ratio for cell in cells):.2f}"],
        [
            f"goodput >= {GOODPUT_BAR} of the best",
            f"{goodput} of {total}, worst {min(cell.goodput_ratio for cell in cells):.3f}",
        ],
        [f"ahead of every rival in p99 (bar: {AHEAD_BAR} of 24)", f"{ahead} of {total}"],
    ]
    if PUBLISHED:
        rows.append(["ahead of SCT and SCG as published", f"{published} of {total}"])
    return markdown(["bar", "met in"], rows)


def worth(cells: Sequence[Cell]) -> str:
    """Ours beside the same loop with another model, and beside holding: where the model wins, and where it does not.

    Goodput is that of all cells together, since one in which the other has none would have no ratio. The mean of p99 is
    over those in which both have one, as who answers nobody has none.
    """
    rows = []
    for name in WITHOUT:
        both = [(cell.ours.p99_ms, cell.of[name].p99_ms) for cell in cells]
        p99 = [ours / its for ours, its in both if np.isfinite(ours) and np.isfinite(its) and its > 0]
        its_goodput = sum(cell.of[name].goodput_per_s for cell in cells)
        goodput = sum(cell.ours.goodput_per_s for cell in cells) / its_goodput if its_goodput else np.inf
        ahead = sum(not cell.behind([name]) for cell in cells)
        not_ahead = [f"{cell.workload} from {cell.start}" for cell in cells if cell.behind([name])]
        rows.append(
            [
                name,
                f"{np.exp(np.mean(np.log(p99))):.2f}" if p99 else "-",
                f"{goodput:.3f}",
                f"{ahead} of {len(cells)}",
                ", ".join(not_ahead) or "none",
            ]
        )
    head = ["beside", "sluice's p99 / its (mean)", "goodput / its (all)", "ahead of it in p99", "not ahead in"]
    return markdown(head, rows)


def everyone(cells: Sequence[Cell]) -> str:
    """Over the workloads: the geometric mean of p99, and the mean goodput, by start."""
    starts = sorted({cell.start for cell in cells})
    rows = []
    for racer in EVERYONE:
        row = [racer]
        for start in starts:
            mine = [cell.of[racer] for cell in cells if cell.start == start]
            p99 = float(np.exp(np.mean(np.log([item.p99_ms for item in mine]))))
            row.append(f"{p99:,.0f} ms, {np.mean([item.goodput_per_s for item in mine]):,.0f}/s")
        rows.append(row)
    return markdown(["racer", *(f"from {start}" for start in starts)], rows)
