"""The study of EuroMLSys'21 on the simulated Social Network: methods, spaces, one service after the other, more trials,
a bad beginning.

make bench BENCH=tuning-methods               # 100 seeds, two processes; the first 30 have the dearer searches too
SEEDS=1-10 make bench BENCH=tuning-methods    # some of them; the table is of all that are kept

A seed that is done is kept in `out/tuning-methods` and not run again: delete the folder after a change.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.kept import asked_seeds, keep, kept
from bench.results import OUT
from bench.tuning.measured import LATEST_MS
from bench.tuning.search import BADLY_BEGUN, BUDGET, IN_REVERSE, IN_TURN, LONG_BUDGET, Run, Search, Searching
from bench.tuning.spaces import ALL, BOTTLENECKS, CRITICAL_PATH, MOST_OF_PATH, spaces
from sluice.tuning.methods.methods import METHODS

SEEDS = tuple(range(1, 101))
DDS, SWARM, GAUSSIAN = "dds", "swarm", "gaussian_process"
EACH = [Search(tuned, method) for tuned in (CRITICAL_PATH, ALL) for method in METHODS]
REDUCED = (CRITICAL_PATH, BOTTLENECKS, MOST_OF_PATH)
SPACES = [Search(tuned, method) for tuned in (ALL, *REDUCED) for method in (DDS, GAUSSIAN)]
SERIAL = [Search(CRITICAL_PATH, GAUSSIAN, how=how) for how in ("", IN_TURN, IN_REVERSE)]
LONG = [Search(CRITICAL_PATH, method, budget) for method in (DDS, SWARM, GAUSSIAN) for budget in (BUDGET, LONG_BUDGET)]
# What is bad at the beginning is in services that no critical path holds for a millisecond.
BEGUN = [Search(ALL, method, how=how) for method in (GAUSSIAN, DDS) for how in ("", BADLY_BEGUN)]
# Of some 130 trials and more: the first seeds alone have them.
DEARER, DEARER_SEEDS = {*SERIAL[1:], *LONG[1::2]}, 30
QUICK = [Search(CRITICAL_PATH, DDS), Search(CRITICAL_PATH, "random_search")]
Found = Mapping[Search, Mapping[int, Run]]


def run(quick: bool = False) -> str:
    folder = OUT / ("tuning-methods-quick" if quick else "tuning-methods")
    if quick:
        shutil.rmtree(folder, ignore_errors=True)
    asked = asked_seeds(SEEDS[:1] if quick else SEEDS)
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as workers:
        begun = [workers.submit(one_seed, folder, seed, QUICK if quick else searches(seed)) for seed in asked]
        for number, done in enumerate(as_completed(begun), 1):
            done.result()
            print(f"{number} of {len(begun)} seeds", flush=True)
    return report(read(folder))


def searches(seed: int) -> list[Search]:
    found = dict.fromkeys(EACH + SPACES + SERIAL + LONG + BEGUN)
    return [each for each in found if seed <= DEARER_SEEDS or each not in DEARER]


def one_seed(folder: Path, seed: int, asked: Sequence[Search]) -> None:
    def made() -> list[object]:
        searching = Searching(seed, spaces())
        return [[asdict(search), asdict(searching.run(search))] for search in asked]

    keep(folder / f"{seed}.json", made)


def read(folder: Path) -> Found:
    """Of all seeds that are kept, by search and seed."""
    found: dict[Search, dict[int, Run]] = {}
    for path in folder.glob("*.json"):
        for search, each in kept(path):
            found.setdefault(Search(**search), {})[int(path.stem)] = Run(**each)
    return found


def report(found: Found) -> str:
    """Those tables of which there is something; each of the seeds that all its rows have."""
    tables = [
        ("Methods (figure 4)", EACH),
        ("Which services (figure 3)", SPACES),
        ("One service after the other", SERIAL),
        (f"{LONG_BUDGET} trials", LONG),
        ("A bad beginning", BEGUN),
    ]
    lines = [
        "Gain: p95 less than the default's, as a share of it. Mean with its interval of 95 %, median and quartiles are"
        " of the seeds of which the default holds the load. Overloaded: of these, where what was found does not; saved:"
        f" of the others, where it does (p95 below {LATEST_MS / 1_000:.0f} s). Own time: CPU time of the session in a"
        " search.",
    ]
    for title, searches_ in tables:
        rows = [search for search in searches_ if search in found]
        if len(rows) > 1:
            seeds = sorted(set.intersection(*(set(found[search]) for search in rows)))
            runs = {search: [found[search][seed] for seed in seeds] for search in rows}
            if searches_ is EACH:
                rows.sort(key=lambda each: (each.tuned != CRITICAL_PATH, -np.median(_gains(runs[each]))))
            lines += ["", f"### {title}", "", *_table({search: runs[search] for search in rows})]
    return "\n".join(lines) + "\n"


def _table(rows: Mapping[Search, Sequence[Run]]) -> list[str]:
    lines = [
        "| tuned | parameters | method | trials | seeds | gain, mean | median | quartiles | overloaded | saved"
        " | own time |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for search, runs in rows.items():
        gains = 100 * _gains(runs)
        low, median, high = np.quantile(gains, (0.25, 0.5, 0.75))
        method = f"`{search.method}`" + (f", {search.how}" if search.how else "")
        own_s = np.mean([run.own_s for run in runs])
        own = f"{own_s:.1f} s" if own_s >= 1 else f"{1_000 * own_s:.0f} ms"
        held, lost = ([run for run in runs if (run.default_ms < LATEST_MS) == holds] for holds in (True, False))
        lines.append(
            f"| {search.tuned} | {runs[0].parameters} | {method} | {np.mean([run.trials for run in runs]):.0f}"
            f" | {len(runs)} | {gains.mean():.1f} ± {half_width(gains):.1f} % | {median:.1f} %"
            f" | {low:.1f} to {high:.1f} %"
            f" | {sum(run.found_ms >= LATEST_MS for run in held)} of {len(held)}"
            f" | {sum(run.found_ms < LATEST_MS for run in lost)} of {len(lost)} | {own} |"
        )
    return lines


def _gains(runs: Sequence[Run]) -> np.ndarray:
    """Where the default holds the load; NaN where it never does."""
    return np.array([run.gain for run in runs if run.default_ms < LATEST_MS] or [np.nan])


def half_width(values: np.ndarray) -> float:
    """Of the mean's interval of 95 %, Student's t; NaN of one value."""
    from scipy.stats import t

    if len(values) < 2:
        return float("nan")
    return float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
