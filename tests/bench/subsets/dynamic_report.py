"""What half an hour under a changing load was like, and the tables of ``subsets-dynamic``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.subsets.changing import SECONDS, Changed
from bench.subsets.static import below
from bench.subsets.strategies import FULL, MICRONS
from testbed.mesh.calibration import Floats
from testbed.mesh.judged import percentiles
from testbed.mesh.memory import ARRIVED

RIVAL, PLAIN = "sre", "microns without weights"
"""The paper's Rocksteadier is described as `sre` is; its Microns has no weights."""
NAMES = (RIVAL, FULL, PLAIN, MICRONS)


@dataclass(frozen=True)
class Summary:
    """Latencies in ms. all, low, high: percentiles 50, 95, 99 of the run and its halves. minutes: p95 of each."""

    all: Floats
    low: Floats
    high: Floats
    minutes: Floats
    containers: float
    cores: float
    busiest: float
    """The mean over periods of the part of the time in which the busiest container computed."""
    counts: Sequence[Sequence[int]]


def summary(changed: Changed, seconds: int = SECONDS) -> Summary:
    rows, arrived = changed.rows, changed.rows[:, ARRIVED]
    late = arrived >= seconds / 2
    minutes = [percentiles(rows[(arrived >= at) & (arrived < at + 60)])[1] for at in range(0, seconds, 60)]
    return Summary(
        percentiles(rows),
        percentiles(rows[~late]),
        percentiles(rows[late]),
        np.array(minutes),
        float(np.mean([sum(counts) for counts in changed.counts])),
        changed.cores,
        float(np.mean(changed.busiest)),
        changed.counts,
    )


Results = dict[str, dict[str, list[Summary]]]
"""By case and strategy, of each seed."""


def report(by_case: Results) -> str:
    lines = ["| case | " + " | ".join(NAMES) + f" | microns beside sre | without weights | beside full | {_MORE}"]
    lines.append("|---" * 12 + "|")
    for case, by_name in by_case.items():
        p95 = {name: float(np.mean([seed.all[1] for seed in by_name[name]])) for name in NAMES}
        late = {name: float(np.mean([seed.high[1] for seed in by_name[name]])) for name in NAMES}
        row = [f"{p95[name]:,.0f}" for name in NAMES]
        row += [below(p95[MICRONS], p95[RIVAL]), below(p95[PLAIN], p95[RIVAL]), below(p95[MICRONS], p95[FULL])]
        row.append(below(late[MICRONS], late[RIVAL]))
        row += [_pair(by_name[RIVAL], by_name[MICRONS], what) for what in _WHATS]
        lines.append(f"| {case} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n\n" + measures(next(iter(by_case.values())))


_MORE = "second half, beside sre | containers | cores | busiest container |"
_WHATS = {"containers": "{:.0f}", "cores": "{:.2f}", "busiest": "{:.0%}"}


def _pair(rival: Sequence[Summary], ours: Sequence[Summary], what: str) -> str:
    """That of `sre`, and of Microns."""
    return " / ".join(
        _WHATS[what].format(float(np.mean([getattr(seed, what) for seed in those]))) for those in (rival, ours)
    )


def measures(by_name: Mapping[str, Sequence[Summary]]) -> str:
    """The first case by other measures: the mean of the seeds, and the range over them of Microns beside `sre`."""
    of: dict[str, Callable[[Summary], float]] = {
        "p95 of all requests": lambda seed: seed.all[1],
        "p95 of the first half": lambda seed: seed.low[1],
        "p95 of the second half": lambda seed: seed.high[1],
        "p99 of all requests": lambda seed: seed.all[2],
        "median of all requests": lambda seed: seed.all[0],
        "mean of the minutes' p95": lambda seed: seed.minutes.mean(),
        "worst minute's p95": lambda seed: seed.minutes.max(),
    }
    lines = ["| measure, as the paper has it | " + " | ".join(NAMES) + " | microns beside sre | seeds |"]
    lines.append("|---" * (3 + len(NAMES)) + "|")
    for what, get in of.items():
        values = {name: [float(get(seed)) for seed in by_name[name]] for name in NAMES}
        mean = {name: float(np.mean(of_name)) for name, of_name in values.items()}
        ratios = [ours / rival - 1.0 for ours, rival in zip(values[MICRONS], values[RIVAL], strict=True)]
        cells = [f"{mean[name]:,.0f}" for name in NAMES]
        seeds = f"{min(ratios) * 100:+.1f} to {max(ratios) * 100:+.1f} %"
        lines.append(f"| {what} | " + " | ".join(cells) + f" | {below(mean[MICRONS], mean[RIVAL])} | {seeds} |")
    return "\n".join(lines) + "\n"
