"""The study of EuroMLSys'21 (figures 3 to 5) on simulated applications, each method beside an oracle.

make bench BENCH=tuning-methods               # 100 seeds, two processes; the first 15 have the dearer searches too
SEEDS=1-10 make bench BENCH=tuning-methods    # some of them

A seed that is done is kept in `out/tuning-methods` and not run again: delete the folder after a change.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.results import OUT
from bench.run_files import load, requested_seeds, save
from bench.tuning.simulated.oracle import ROUNDS, best
from bench.tuning.simulated.report import report
from bench.tuning.simulated.searches import ALL, IN_REVERSE, IN_TURN, LONG_BUDGET, PATH, Search, Searches
from sluice.tuning.methods.methods import METHODS

SEEDS = tuple(range(1, 101))
DDS, GAUSSIAN, RANDOM = "dds", "gaussian_process", "random_search"
EACH = [Search(PATH, method) for method in METHODS]
SPACES = [Search(tuned, method) for tuned in (PATH, ALL) for method in (DDS, GAUSSIAN, RANDOM)]
SERIAL = [Search(PATH, method, how=how) for method in (DDS, GAUSSIAN) for how in ("", IN_TURN, IN_REVERSE)]
LONG = [Search(PATH, method, LONG_BUDGET) for method in (DDS, "swarm", RANDOM, GAUSSIAN)]
# Some seconds a search: the first seeds alone have them, and the oracle of the critical path alone.
DEARER = {*(search for search in SERIAL if search.how), *LONG}
DEARER_SEEDS = 15
TABLES = {
    "Methods on the critical path (figure 4)": EACH,
    "Which services (figure 3)": SPACES,
    "One service after the other": SERIAL,
    f"{LONG_BUDGET} trials (figure 5)": [Search(PATH, search.method) for search in LONG] + LONG,
}
QUICK = [Search(PATH, DDS), Search(PATH, RANDOM), Search(ALL, DDS)]


def run(quick: bool = False) -> str:
    folder = OUT / ("tuning-methods-quick" if quick else "tuning-methods")
    if quick:
        shutil.rmtree(folder, ignore_errors=True)
    seeds = requested_seeds(SEEDS[:2] if quick else SEEDS)
    # Libraries with threads of their own would use more than the two cores.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), get_context("spawn")) as workers:
        list(workers.map(partial(one_seed, folder, quick=quick), seeds))
    tables = {"Quick": QUICK} if quick else TABLES
    return report({seed: load(folder / f"{seed}.json") for seed in seeds}, tables)


def one_seed(folder: Path, seed: int, quick: bool = False) -> None:
    save(folder / f"{seed}.json", partial(made, seed, QUICK if quick else searches(seed)))


def searches(seed: int) -> list[Search]:
    every = dict.fromkeys(search for table in TABLES.values() for search in table)
    return [search for search in every if seed <= DEARER_SEEDS or search not in DEARER]


def made(seed: int, wanted: list[Search]) -> dict[str, Any]:
    """default_ms, oracle_ms; path_ms: the oracle's on the critical path alone, on the first seeds; random: of
    `Searches.at_random`; found: pairs of a search and what came of it."""
    on = Searches(seed)
    rounds = 0 if wanted is QUICK else ROUNDS
    oracle_ms, _ = best(on.world, rounds=rounds)
    path_ms = best(on.world, on.spaces[PATH], rounds=rounds)[0] if seed <= DEARER_SEEDS else None
    found = [(search, asdict(on.run(search))) for search in wanted]
    return {
        "default_ms": on.default_ms,
        "oracle_ms": oracle_ms,
        "path_ms": path_ms,
        "random": on.at_random(),
        "found": found,
    }
