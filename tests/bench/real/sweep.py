"""The best static sizes: each pool in turn, at the highest load, with the others held; the best stays."""

import time
from collections.abc import Callable, Sequence

from bench.real.measured import read, words
from sluice_kit.applications.polyglot_pools import POOLS, Sizes, resize
from sluice_kit.applications.polyglot_scene import Scene
from sluice_kit.applications.real_load import SETTLE_S, going, summed

START = 16
SWEPT = (2, 4, 8, 16, 32, 64)
ON_PATH = [pool.name for pool in POOLS if pool.service != "shipping"]
"""A user waits for these. A consumer's pools keep `START`."""


def descended(names: Sequence[str], sizes: Sequence[int], goodput: Callable[[Sizes], float]) -> Sizes:
    """One pass of coordinate descent from `START`: of equal sizes the smallest. goodput: of all sizes, called anew for
    each candidate, so that a slow minute of the machine meets all sizes of a pool alike.

    Worked: a goodput of -|a - 8| - |b - 4| ends at a = 8, b = 4.
    """
    best = {pool.name: START for pool in POOLS if pool.name not in names} | dict.fromkeys(names, START)
    for name in names:
        found = {size: goodput(best | {name: size}) for size in sizes}
        best[name] = max(found, key=lambda size: (found[size], -size))
    return best


def goodput_of(here: Scene, seconds: float) -> float:
    """Good responses a second of the most users, as in the runs."""
    lines = here.folder / "sweep.jsonl"
    with going(here.others, words(here.app.page, "steady", "closed", 1, 600, 600), lines):
        time.sleep(SETTLE_S + seconds)
        rows = read(lines)
    first = rows[0]["at"] + SETTLE_S
    return summed([row for row in rows if first < row["at"]]).good_per_s


def swept(here: Scene, seconds: float, sizes: Sequence[int] = SWEPT) -> Sizes:
    def goodput(candidate: Sizes) -> float:
        resize(here.app, candidate)
        found = goodput_of(here, seconds)
        print(f"sweep {candidate}: {found:.1f} good a second", flush=True)
        return found

    return descended(ON_PATH, sizes, goodput)
