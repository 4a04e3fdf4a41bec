"""The race: what sizes a thread pool in scenarios (`testbed/single/scenario.py`), judged by what the users see.

    python -m bench race --scenario example.yaml --seeds 1,2,3            # everyone, a table
    python -m bench race --scenario example.yaml --from 60 -o json        # from 60 threads; for scripts
    python -m bench race --scenario a.yaml --scenario b.yaml --racers sluice,vegas
    python -m bench race --scenario a.yaml --racers sluice --delay 5 --clock -1

`-o json` prints a list of {racer, seed, p95_ms, p99_ms, goodput_per_s, changes, sizes} and nothing else on standard
output, sizes as [[second, size], ...], a time of failed requests as null; with several scenarios each row begins with
its scenario.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench.controllers.racers import RACERS
from bench.racing import Result, race, starting_at
from testbed.single.reading import ScenarioError, load
from testbed.single.scenario import Scenario
from testbed.tiers.limits import MOST_THREADS

PROCESSES = 2
In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class Task:
    scenario: Scenario
    racer: str
    seed: int
    delay_s: float | None = None
    """Age of the data; None: the racer's own."""
    clock_s: float = 0.0


def run(task: Task) -> Result:
    return race(task.scenario, task.racer, RACERS[task.racer].on(task.delay_s, task.clock_s), task.seed)


def run_all(tasks: Sequence[Task], processes: int = PROCESSES) -> list[Result]:
    """In the order of the tasks."""
    return mapped(run, tasks, processes)


def mapped(function: Callable[[In], Out], arguments: Sequence[In], processes: int = PROCESSES) -> list[Out]:
    """In their order, in processes; how far it is goes to standard error."""
    if processes == 1 or len(arguments) == 1:
        return list(_with_progress(map(function, arguments), len(arguments)))
    with ProcessPoolExecutor(processes) as pool:
        return list(_with_progress(pool.map(function, arguments), len(arguments)))


def _with_progress(results: Iterable[Out], total: int) -> Iterator[Out]:
    for done, result in enumerate(results, 1):
        if done * 10 // total > (done - 1) * 10 // total:
            print(f"{done} of {total} runs", file=sys.stderr, flush=True)
        yield result


def table(results: Sequence[Result]) -> str:
    """A line a racer: means over the seeds, with the worst beside them where there are several."""
    lines = ["| racer | p95 ms | p99 ms | goodput/s | changes | sizes |", "|---|---|---|---|---|---|"]
    for racer in dict.fromkeys(result.racer for result in results):
        mine = [result for result in results if result.racer == racer]
        sizes = [size for result in mine for _, size in result.sizes]
        ends = sorted({result.sizes[-1][1] for result in mine})
        lines.append(
            f"| {racer} | {_spread([r.p95_ms for r in mine], max)} | {_spread([r.p99_ms for r in mine], max)}"
            f" | {_spread([r.goodput_per_s for r in mine], min)} | {np.mean([r.changes for r in mine]):.3g}"
            f" | {min(sizes)}..{max(sizes)}, at the end {'..'.join(map(str, dict.fromkeys((ends[0], ends[-1]))))} |"
        )
    return "\n".join(lines)


def _spread(values: list[float], worst: Callable[[list[float]], float]) -> str:
    mean = f"{np.mean(values):,.0f}"
    return mean if len(values) == 1 else f"{mean} ({worst(values):,.0f})"


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench race", description="What sizes a thread pool best in these scenarios.")
    parser.add_argument("--scenario", action="append", required=True, type=_scenario, metavar="FILE.yaml")
    parser.add_argument("--seeds", type=_seeds, default=[1], metavar="1,2,3", help="default 1")
    parser.add_argument("--from", dest="threads", type=_threads, metavar="N", help="threads to start with")
    parser.add_argument("--racers", type=_racers, default=list(RACERS), metavar="A,B", help=f"of {', '.join(RACERS)}")
    parser.add_argument("--delay", type=_seconds, metavar="S", help="age of the data of Sluice's loop, default 2")
    parser.add_argument(
        "--clock", type=float, default=0.0, metavar="S", help="how much the host's clock is ahead of it, default 0"
    )
    parser.add_argument("--processes", type=int, default=PROCESSES, metavar="N", help=f"default {PROCESSES}")
    parser.add_argument("-o", dest="output", choices=["table", "json"], default="table")
    return parser.parse_args(arguments)


def _scenario(path: str) -> Scenario:
    try:
        return load(Path(path))
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _seeds(text: str) -> list[int]:
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not legal; legal: integers, as 1,2,3") from None


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 60:
        raise argparse.ArgumentTypeError(f"{text!r} is not legal; legal: seconds, 0 to 60")
    return value


def _threads(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r} is not legal; legal: 1 to {MOST_THREADS}")
    return int(text)


def _racers(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in RACERS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is unknown; legal: {', '.join(RACERS)}")
    return names


def main(arguments: list[str]) -> None:
    options = parsed(arguments)
    scenarios = [starting_at(scenario, options.threads) for scenario in options.scenario]
    way = options.delay, options.clock
    tasks = [
        Task(scenario, racer, seed, *way)
        for scenario in scenarios
        for racer in options.racers
        for seed in options.seeds
    ]
    results = run_all(tasks, options.processes)
    if options.output == "json":
        names = [{"scenario": task.scenario.name} if len(scenarios) > 1 else {} for task in tasks]
        rows = [name | result.document() for name, result in zip(names, results, strict=True)]
        print("[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]")
        return
    for scenario in scenarios:
        mine = [result for task, result in zip(tasks, results, strict=True) if task.scenario is scenario]
        seeds = ", ".join(map(str, options.seeds))
        print(f"## {scenario.name}, from {scenario.service.threads} threads, seeds {seeds}\n\n{table(mine)}\n")
