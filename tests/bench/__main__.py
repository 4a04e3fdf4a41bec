"""Runs the benchmarks and writes their tables: `make bench`, or `python -m bench [NAME...]`."""

import argparse
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench import critical_path, estimators, scg, testbed_speed, watchers

BENCHMARKS: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "scg": scg.run,
    "estimators": estimators.run,
    "testbed": testbed_speed.run,
    "watchers": watchers.run,
    "critical-path": critical_path.run,
}
OUT = Path(__file__).with_name("out")


def table(name: str, rows: list[tuple[str, str]]) -> str:
    machine = f"{platform.machine()}, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    lines = [f"## {name}", "", f"`make bench` on {machine}", "", "| what | measured |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {figure} |" for what, figure in rows)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all when none is given")
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; legal: {', '.join(BENCHMARKS)}")
    OUT.mkdir(exist_ok=True)
    for name in names:
        text = table(name, BENCHMARKS[name]())
        (OUT / f"{name}.md").write_text(text)
        print(text)


if __name__ == "__main__":
    main()
