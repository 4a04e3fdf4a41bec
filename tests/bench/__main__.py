"""Runs the benchmarks and writes their tables: `make bench`, or `python -m bench [NAME...]`.

`python -m bench race`, `adversary`, `patterns` and `generate` are commands: `--help` says what they take.
"""

import argparse
import os
import platform
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from bench import (
    adversary,
    cli,
    critical_path,
    decide_cost,
    faults,
    flink_jobs,
    freshness,
    generate,
    localization,
    race,
    real_start,
    report,
    sampled,
    scaled,
    series,
    syncing,
    table1,
    watchers,
)
from bench.decision import parts
from bench.dqn import convergence, transfer
from bench.loop_scale import run as loop_scale
from bench.patterns import command as patterns
from bench.real import run as real
from bench.results import OUT, keep
from bench.sizing import run as sizing
from bench.subsets import ablations, adopted, dynamic, latency, loop_runs, static
from bench.subsets_scale import run as subsets_scale
from bench.tuning import run as tuning
from bench.tuning.simulated import run as tuning_methods

#: Rows (what, figure), or Markdown where a benchmark has tables of its own.
Measured = list[tuple[str, str]] | str
#: Each takes whether to be quick: fewer repetitions, so rougher figures.
BENCHMARKS: dict[str, Callable[[bool], Measured]] = {
    "loop-scale": loop_scale.run,
    "syncing": syncing.run,
    "localization": localization.run,
    "decision": parts.decision,
    "workloads": parts.six_workloads,
    "services": parts.random_services,
    "claims": parts.what_it_says,
    "bad-start": parts.bad_start,
    "quarter": parts.quarter_size,
    "rest": parts.at_rest,
    "two-pools": parts.wrong_pools,
    "premises": parts.moves,
    "three-tiers": parts.tiers,
    "scaling": parts.scaling,
    "drift": parts.drift,
    "table1": table1.run,
    "sampled": sampled.run,
    "sampled-sizes": scaled.run,
    "real-start": real_start.run,
    "faults": faults.run,
    "real": real.run,
    "series": series.run,
    "watchers": watchers.run,
    "cli": cli.run,
    "decide-cost": decide_cost.run,
    "subsets-scale": subsets_scale.run,
    "critical-path": critical_path.run,
    "report": report.run,
    "flink-jobs": flink_jobs.run,
    "sizing": sizing.run,
    "freshness": freshness.run,
    "subsets-static": static.run,
    "subsets-closed-loop": loop_runs.run,
    "subsets-latency": latency.run,
    "subsets-adoption": adopted.run,
    "subsets-ablations": ablations.run,
    "subsets-dynamic": dynamic.run,
    "tuning-real": tuning.run,
    "tuning-methods": tuning_methods.run,
    "dqn": convergence.converges,
    "dqn-transfer": transfer.transfers,
}


def table(name: str, measured: Measured, quick: bool, when: str = "") -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}{when}"
    command = f"make bench BENCH={name}{' QUICK=1' if quick else ''}"
    lines = [f"## {name}", "", f"`{command}` on {machine}", ""]
    if isinstance(measured, str):
        return "\n".join(lines) + "\n" + measured
    rows = [f"| {what} | {figure} |" for what, figure in measured]
    return "\n".join([*lines, "| what | measured |", "|---|---|", *rows]) + "\n"


#: Each takes the arguments after its name.
COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "race": race.main,
    "adversary": adversary.main,
    "patterns": patterns.main,
    "generate": generate.main,
}


def main() -> None:
    # A bench that is killed stops the servers and applications that it started.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if sys.argv[1:] and sys.argv[1] in COMMANDS:
        COMMANDS[sys.argv[1]](sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="small inputs: whether it runs, and rough figures")
    parser.add_argument("--keep", action="store_true", help="also to tests/bench/results, which is committed, undated")
    options = parser.parse_args()
    names = options.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; legal: {', '.join(BENCHMARKS)}")
    OUT.mkdir(exist_ok=True)
    for name in names:
        result = BENCHMARKS[name](options.quick)
        text = table(name, result, options.quick, f", {datetime.now(UTC):%Y-%m-%d}")
        (OUT / f"{name}.md").write_text(text)
        if options.keep:
            keep(name, table(name, result, options.quick))
        print(text)


if __name__ == "__main__":
    main()
