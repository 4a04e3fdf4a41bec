"""Runs the benchmarks and writes their tables: `make bench`, or `python -m bench [NAME...]`."""

import argparse
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench import (
    critical_path,
    estimators,
    flink_jobs,
    interval,
    localization,
    loop_scale,
    race,
    scg,
    table1,
    testbed_speed,
    watchers,
)

#: Rows (what, figure), or Markdown where a benchmark has tables of its own.
Found = list[tuple[str, str]] | str
#: Each takes whether to be quick: fewer repetitions, so rougher figures.
BENCHMARKS: dict[str, Callable[[bool], Found]] = {
    "scg": lambda quick: scg.run(),
    "loop-scale": loop_scale.run,
    "estimators": lambda quick: estimators.run(),
    "interval": interval.run,
    "localization": localization.run,
    "race": race.run,
    "table1": table1.run,
    "testbed": lambda quick: testbed_speed.run(),
    "watchers": lambda quick: watchers.run(),
    "critical-path": critical_path.run,
    "flink-jobs": flink_jobs.run,
}
OUT = Path(__file__).with_name("out")


def table(name: str, found: Found, quick: bool) -> str:
    machine = f"{platform.machine()}, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    command = f"make bench BENCH={name}{' QUICK=1' if quick else ''}"
    lines = [f"## {name}", "", f"`{command}` on {machine}", ""]
    if isinstance(found, str):
        return "\n".join(lines) + "\n" + found
    rows = [f"| {what} | {figure} |" for what, figure in found]
    return "\n".join([*lines, "| what | measured |", "|---|---|", *rows]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="small inputs: whether it runs, and rough figures")
    options = parser.parse_args()
    names = options.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; legal: {', '.join(BENCHMARKS)}")
    OUT.mkdir(exist_ok=True)
    for name in names:
        text = table(name, BENCHMARKS[name](options.quick), options.quick)
        (OUT / f"{name}.md").write_text(text)
        print(text)


if __name__ == "__main__":
    main()
