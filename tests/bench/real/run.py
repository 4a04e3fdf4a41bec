"""An application of several languages, sized by several methods, and who is named as its bottleneck.

Each finished run is a file of tests/bench/out/real: a bench that was interrupted goes on where it was. `SEEDS=1-5`
chooses seeds; `LOADS=step_up,...`, `LOOPS=closed`, `METHODS=sluice,...` and `SECONDS_A_RUN=60` a part of the runs.
`PARTS=localization` leaves the comparison out, `PARTS=comparison` the localization.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.real.faults import FAULTS
from bench.real.localized import MEASURED_S, QUICK_S, localized
from bench.real.manifest import manifest
from bench.real.measured import Task, measured
from bench.real.methods import FIXED, METHODS, config
from bench.real.sweep import SWEPT, swept
from bench.real.table import comparison, localization
from bench.results import OUT
from bench.run_files import load, requested_seeds, runs, save
from sluice_kit.applications.polyglot_pools import Sizes
from sluice_kit.applications.polyglot_scene import scene
from sluice_kit.local_stack.driver import Stack, drive, start_anew, started
from testbed.real.rates import RATES

LONG_S, SHORT_S = 720.0, 60.0
QUICK_LOADS = ("twitter_10s_burst1", "step_up")
SWEPT_S, QUICK_SWEPT_S = 10.0, 5.0
Get = Callable[[], Stack]


def run(quick: bool) -> str:
    folder = OUT / ("real-quick" if quick else "real")
    seconds = float(os.environ.get("SECONDS_A_RUN", SHORT_S if quick else LONG_S))
    parts = chosen("PARTS", ("comparison", "localization"))
    with stack_when_needed() as stack:
        found = compared(stack, folder, quick, seconds) if "comparison" in parts else {}
        named = faulted(stack, folder, quick) if "localization" in parts else []
    text = comparison(found, seconds) if found else ""
    text += localization(named) if named else ""
    return text + manifest()


def compared(stack: Get, folder: Path, quick: bool, seconds: float) -> dict[Task, Any]:
    todo = tasks(quick)
    best: Sizes = {}
    if any(method == FIXED for method, *_ in todo):
        save(folder / "best-fixed.json", lambda: best_fixed(stack(), folder, quick))
        best = load(folder / "best-fixed.json")

    def one(task: Task) -> Any:
        name = "-".join(map(str, task)).replace(" ", "_")
        print(f"{name}: {todo.index(task) + 1} of {len(todo)}", flush=True)
        return measured(stack(), task, seconds, best, folder / "logs" / name)

    return runs(folder / f"{seconds:g}", todo, one)


def tasks(quick: bool) -> list[Task]:
    """In this order, so that whoever stops early has all methods under the same loads."""
    loads = chosen("LOADS", tuple(RATES), QUICK_LOADS if quick else None)
    loops = chosen("LOOPS", ("closed", "open"), ("closed",) if quick else None)
    methods = chosen("METHODS", tuple(METHODS))
    seeds = requested_seeds((1,) if quick else tuple(range(1, 6)))
    return [(method, load, loop, seed) for seed in seeds for loop in loops for load in loads for method in methods]


def chosen(variable: str, legal: Sequence[str], otherwise: Sequence[str] | None = None) -> tuple[str, ...]:
    """Of an environment variable, comma-separated. ValueError: a name is not legal."""
    words = [word.strip() for word in os.environ.get(variable, "").split(",") if word.strip()]
    if unknown := [word for word in words if word not in legal]:
        raise ValueError(f"{variable}: {unknown[0]!r} is not legal; legal: {', '.join(legal)}")
    return tuple(words or (legal if otherwise is None else otherwise))


def best_fixed(stack: Stack, folder: Path, quick: bool) -> Sizes:
    (logs := folder / "logs/best-fixed").mkdir(parents=True, exist_ok=True)
    with scene(stack, logs, partial(config, "")) as here:
        return swept(here, QUICK_SWEPT_S if quick else SWEPT_S, SWEPT[1::2] if quick else SWEPT)


def faulted(stack: Get, folder: Path, quick: bool) -> list[Any]:
    """One application a seed; the faults of a seed come one after another."""
    found: list[Any] = []
    for seed in requested_seeds((1,) if quick else tuple(range(1, 6))):
        found += localized(stack, FAULTS, seed, QUICK_S if quick else MEASURED_S, folder / f"localization-{seed}")
    return found


@contextmanager
def stack_when_needed() -> Iterator[Get]:
    """A stack without data, started by the first call; not at all where all runs are files already."""
    with ExitStack() as down:
        up: list[Stack] = []

        def get() -> Stack:
            if not up:
                down.callback(drive, "down")
                start_anew()
                up.append(started())
            return up[0]

        yield get
