"""Patterns of services, sized by Sluice beside the operator's own size: a table, a row a minute.

python -m testbed.patterns nested plain --minutes 12 --delay 2
"""

from __future__ import annotations

import argparse
from collections import Counter

from bench.decision.summary import markdown
from bench.patterns.run import Ran, Way, held, sized
from testbed.patterns.registry import PATTERNS


def table(ours: Ran, theirs: Ran) -> str:
    head = ["minute", "size", "good/s", "late/s", "errors/s", "state", "target", "reasons", "held good/s", "ratio"]
    rows = []
    for minute, good in enumerate(ours.per_minute(ours.good)):
        seconds = slice(60 * minute, 60 * minute + 60)
        answer, sizes = ours.answers[seconds], ours.sizes[seconds]
        control = theirs.per_minute(theirs.good)[minute]
        rows.append(
            [
                f"{minute + 1}",
                _range(sizes.tolist()),
                f"{good / 60:.1f}",
                f"{ours.late[seconds].mean():.1f}",
                f"{ours.failed[seconds].mean():.1f}",
                _most([item.state for item in answer]),
                f"{answer[-1].action} {answer[-1].target}",
                _most([code for item in answer for code in item.codes]),
                f"{control / 60:.1f}",
                f"{good / control:.2f}" if control else "-",
            ]
        )
    return markdown(head, rows)


def _range(sizes: list[int]) -> str:
    low, high, end = min(sizes), max(sizes), sizes[-1]
    return f"{end}" if low == high else f"{end} ({low}..{high})"


def _most(words: list[str]) -> str:
    """The three that were there most often, with their share."""
    return ", ".join(f"{word} {count * 100 // 60}%" for word, count in Counter(words).most_common(3))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m testbed.patterns", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PATTERNS)}; all when none is given")
    parser.add_argument("--minutes", type=int, default=12, metavar="N", help="default 12")
    parser.add_argument("--delay", type=float, default=2.0, metavar="S", help="from a span's end until it is known")
    parser.add_argument("--clock", type=float, default=0.0, metavar="S", help="how much the host's clock is ahead")
    parser.add_argument("--size", type=int, metavar="N", help="of the pool at first, default the pattern's own")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default 1")
    parser.add_argument("--plain", action="store_true", help="count every span of a side, nested ones and probes too")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in PATTERNS]:
        parser.error(f"unknown pattern {unknown[0]!r}; legal: {', '.join(PATTERNS)}")
    way = Way(options.delay, options.clock, options.plain)
    for name in options.names or PATTERNS:
        ours = sized(name, options.seed, 60 * options.minutes, way, options.size)
        theirs = held(name, options.seed, 60 * options.minutes, options.size)
        start = options.size or PATTERNS[name].size
        print(
            f"## {name}, from {start}, data {way.delay_s:g} s old, clock {way.clock_s:+g} s\n\n{table(ours, theirs)}\n"
        )
