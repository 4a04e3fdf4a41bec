"""`python -m bench subsets make|judge`: applications to files, and solutions from files judged.

    python -m bench subsets make --shape hotel --containers 128 --difference 0.6 --to app.json --samples samples.csv
    ./sluice subsets solve --input app.json -o json > microns.json
    python -m bench subsets judge --app app.json microns.json other.json

Any strategy can be judged so: it reads the one file and writes the other. What stands under `testbed` in the
application is what only the judge knows; a file without it is judged with services that are all alike.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.subsets.cells import REQUESTS, samples, told
from testbed.mesh import application as applications
from testbed.mesh import solution as solutions
from testbed.mesh.calibration import NOMINAL
from testbed.mesh.judged import Judged, judge
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, Deployment
from testbed.mesh.run import ROUTINGS


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="bench subsets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(required=True, metavar="make|judge")
    making = what.add_parser("make", help="write an application, and samples to learn its latencies from")
    making.add_argument("--shape", choices=list(SHAPES), required=True)
    making.add_argument("--containers", type=int, default=512)
    making.add_argument("--difference", type=float, default=HIGH, help="between the hosts' utilizations, 0 to 0.9")
    making.add_argument("--workload", type=float, default=NOMINAL, help="of the one that the containers are sized for")
    making.add_argument("--seed", type=int, default=1)
    making.add_argument("--to", type=Path, required=True, metavar="FILE")
    making.add_argument("--samples", type=Path, metavar="FILE")
    making.set_defaults(act=_make)
    judging = what.add_parser("judge", help="run solutions, and print what users see")
    judging.add_argument("solutions", nargs="+", type=Path, metavar="SOLUTION")
    judging.add_argument("--app", type=Path, required=True, metavar="FILE")
    judging.add_argument("--routing", choices=list(ROUTINGS), default="round_robin")
    judging.add_argument("--seeds", default="1", help="of requests, such as 1,2,3")
    judging.add_argument("--requests", type=int, default=REQUESTS)
    judging.add_argument("-o", "--output", choices=["table", "json"], default="table")
    judging.set_defaults(act=_judge)
    options = parser.parse_args(arguments)
    try:
        options.act(options)
    except (OSError, ValueError) as error:
        sys.exit(f"bench subsets: {error}")


def _make(options: argparse.Namespace) -> None:
    if not 0 <= options.difference <= 0.9:
        raise ValueError(f"--difference {options.difference:g} is not legal; legal: 0 to 0.9")
    how = Deployment(options.containers, options.difference, options.workload, options.seed)
    document = told(options.shape, how).model_dump(exclude_none=True)
    if options.samples is not None:
        options.samples.write_text(samples(options.shape, options.containers))
        document["latency"] = {"samples": str(options.samples.absolute())}
    options.to.write_text(json.dumps(document, indent=1) + "\n")


def _judge(options: argparse.Namespace) -> None:
    application = applications.load(options.app)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    found = {}
    for path in options.solutions:
        try:
            solution = solutions.load(path)
            runs = [judge(application, solution, seed, options.requests, options.routing) for seed in seeds]
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        found[f"{path.stem} ({solution.strategy})" if solution.strategy else path.stem] = runs
    print(_json(found) if options.output == "json" else _table(found))


def _table(found: dict[str, list[Judged]]) -> str:
    lines = ["| solution | root | p50 | p95 | p99 | failed | cores | buffers, MB | connections |", "|---|" + "---|" * 8]
    for name, runs in found.items():
        for root in ("all", *runs[0].by_root):
            each = [run.latency_ms if root == "all" else run.by_root[root] for run in runs]
            p50, p95, p99 = np.mean(each, axis=0)
            row = f"| {name} | {root} | {p50:,.1f} | {p95:,.1f} | {p99:,.1f} |"
            if root == "all":
                cores = np.mean([run.cores for run in runs])
                row += f" {sum(run.failed for run in runs)} | {cores:.2f} | {runs[0].memory_mb:,.0f} "
                lines.append(f"{row}| {runs[0].connections:,} |")
            else:
                lines.append(f"{row} | | | |")
    return "\n".join(lines)


def _json(found: dict[str, list[Judged]]) -> str:
    def plain(run: Judged) -> dict[str, object]:
        pairs = [{"upstream": up, "downstream": down, "p95_ms": p95} for (up, down), p95 in run.pair_ms.items()]
        roots = {name: values.tolist() for name, values in run.by_root.items()}
        return asdict(run) | {"latency_ms": run.latency_ms.tolist(), "by_root": roots, "pair_ms": pairs}

    return json.dumps({name: [plain(run) for run in runs] for name, runs in found.items()}, indent=1)
