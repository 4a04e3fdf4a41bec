"""All sessions of the bench, one after the other; each is kept when it is over, so that an interrupted bench goes on.

make bench BENCH=tuning-real                             # all 18 sessions
SEEDS=1 METHODS=dds SPACES=whole make bench BENCH=tuning-real   # one of them; the table is of all that are kept
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.results import OUT
from bench.run_files import load, requested_seeds, save
from bench.tuning.course import proposed, ran
from bench.tuning.judged import REDUCED, WHOLE, WITHOUT_POOLS, table
from bench.tuning.parameters import QUICK_WINDOW, WINDOW, Parameter, tuned
from sluice_kit.local_stack.driver import drive, start_anew

METHODS = ("dds", "random_search", "gaussian_process", "tpe")
SPACES = (WHOLE, WITHOUT_POOLS, REDUCED)
SPACE_S = 60.0


class Session(NamedTuple):
    space: str
    method: str
    seed: int

    @property
    def file(self) -> str:
        return f"{self.space}-{self.method}-{self.seed}.json"


def run(quick: bool = False) -> str:
    """The table of all sessions that are kept. SEEDS, METHODS, SPACES say which to run; those that are kept are not."""
    folder = OUT / ("tuning-real-quick" if quick else "tuning-real")
    if quick:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    chosen = sessions(
        requested_seeds((1,) if quick else (1, 2, 3)),
        _asked("METHODS", "dds" if quick else ",".join(METHODS)),
        _asked("SPACES", f"{WHOLE},{REDUCED}" if quick else ",".join(SPACES)),
    )
    due = [item for item in chosen if not (folder / item.file).exists()]
    space = folder / "space.json"
    if due:
        try:
            start_anew()
            for item in due:
                if item.space == REDUCED:
                    save(space, lambda: proposed(tuned(), 15.0 if quick else SPACE_S))
                parameters = _of(item.space, space)
                save(folder / item.file, lambda: ran(item.space, parameters, item.method, item.seed, quick))  # noqa: B023
        finally:
            drive("down")
    runs = [load(folder / item.file) for item in in_order(folder)]
    return table(runs, load(space) if space.exists() else None, QUICK_WINDOW if quick else WINDOW)


def sessions(seeds: Sequence[int], methods: list[str], spaces: list[str]) -> list[Session]:
    """In the order in which they say most: a seed after the other, DDS in all spaces first. The whole space has all
    methods, the others DDS alone. ValueError: there is no such method or space."""
    for name, legal in (*((method, METHODS) for method in methods), *((space, SPACES) for space in spaces)):
        if name not in legal:
            raise ValueError(f"{name!r} is not known; legal: {', '.join(legal)}")
    everything = [(space, METHODS[0]) for space in SPACES] + [(WHOLE, method) for method in METHODS[1:]]
    chosen = [(space, method) for space, method in everything if space in spaces and method in methods]
    return [Session(space, method, seed) for seed in seeds for space, method in chosen]


def in_order(folder: Path) -> list[Session]:
    """Those that a folder has: by space and method as in `sessions`, by seed."""
    results = []
    for path in folder.glob("*-*-*.json"):
        space, method, seed = path.stem.rsplit("-", 2)
        results.append(Session(space, method, int(seed)))
    return sorted(results, key=lambda item: (SPACES.index(item.space), METHODS.index(item.method), item.seed))


def _of(space: str, proposal: Path) -> tuple[Parameter, ...]:
    if space == REDUCED:
        left = set(load(proposal)["kept"])
        return tuple(item for item in tuned() if item.name in left)
    return tuned(pools=space == WHOLE)


def _asked(name: str, usual: str) -> list[str]:
    return os.environ.get(name, usual).split(",")
