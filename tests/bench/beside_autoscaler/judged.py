"""What a run came to for its users, and the table of all runs."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

from bench.beside_autoscaler.arms import AFTER, ARMS, BEFORE, SHIPPED_ALONE, SIZED_AFTER, SIZED_ALONE, Arm
from support.real_load import percentile_ms, summed

Found = Mapping[str, Any]
BAR = 0.6
FIRST = 1 / 7
"""Share of the load's shape that its first burst takes: "known" is judged from there on."""
COMPARED = ((AFTER, SHIPPED_ALONE), (BEFORE, SHIPPED_ALONE), (SIZED_AFTER, SIZED_ALONE), (AFTER, SIZED_ALONE))


class Judged(NamedTuple):
    """p99_ms, good_per_s: over the whole run. known_p99_ms, known_good_per_s: once the first burst was over.

    limit_cores: the mean of the limits in force. late_ms: the most by which the load's own program was late.
    """

    p99_ms: float
    good_per_s: float
    known_p99_ms: float
    known_good_per_s: float
    limit_cores: float
    used_cores: float
    late_ms: float


def judged(run: Found) -> Judged:
    seconds = run["seconds"]
    begin, end = seconds[0]["at"], seconds[-1]["at"]
    later = [each for each in seconds if each["at"] >= begin + FIRST * (end - begin)]
    whole = summed(seconds)
    return Judged(
        percentile_ms(seconds, 0.99),
        whole.good_per_s,
        percentile_ms(later, 0.99),
        summed(later).good_per_s,
        _mean_limit(run["limits"], begin, end),
        run["used_cores"],
        whole.late_ms,
    )


def _mean_limit(limits: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """Over the time from begin to end. Worked: 0.3 from second -5, 0.8 from 10 on, of 0 to 40: 0.675."""
    until = [at for at, _ in limits[1:]] + [math.inf]
    spans = [min(after, end) - max(at, begin) for (at, _), after in zip(limits, until, strict=True)]
    return sum(max(0.0, span) * cores for span, (_, cores) in zip(spans, limits, strict=True)) / (end - begin)


def table(runs: Sequence[Found], sweep: Found) -> str:
    found = {arm: {run["seed"]: judged(run) for run in runs if run["arm"] == arm.name} for arm in ARMS}
    found = {arm: seeds for arm, seeds in found.items() if seeds}
    lines = ["Good within 250 ms, a second, by threads, at a limit that stays:", "", *_sweep(sweep), ""]
    lines += [
        "p99 and good responses a second of the users, the mean over seeds (p99: and the worst); whole: all of the run;"
        " later: once the first burst was over.",
        "",
        "| | threads at first | p99 whole, ms | p99 later, ms | good whole | good later | limit | used |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for arm, seeds in found.items():
        threads = next(run["threads"] for run in runs if run["arm"] == arm.name)
        lines.append(_row(arm, threads, list(seeds.values())))
    lines += ["", f"p99 by that of hardware alone, each seed (bar: {BAR} at most):", ""]
    lines += ["| | by | whole | later | goodput later |", "| --- | --- | --- | --- | --- |"]
    lines += [_compared(a, b, found[a], found[b]) for a, b in COMPARED if a in found and b in found]
    lines += ["", *_courses(runs)]
    late = max(each.late_ms for seeds in found.values() for each in seeds.values())
    behind_s = max(run["behind_s"] for run in runs)
    lines.append(
        f"The load's own program was late by {late:.0f} ms at most, the stack {behind_s:.0f} s behind its spans."
    )
    return "\n".join(lines) + "\n"


def _sweep(sweep: Found) -> list[str]:
    rows = list(sweep["good"].items())
    lines = [f"| limit | {' | '.join(map(str, rows[0][1]))} |", f"| --- |{' --- |' * len(rows[0][1])}"]
    return lines + [f"| {cores} | {' | '.join(f'{good:.0f}' for good in each.values())} |" for cores, each in rows]


def _row(arm: Arm, threads: int, seeds: list[Judged]) -> str:
    def p99(values: list[float]) -> str:
        return f"{mean(values):.0f} ({max(values):.0f})"

    figures = [
        p99([each.p99_ms for each in seeds]),
        p99([each.known_p99_ms for each in seeds]),
        f"{mean(each.good_per_s for each in seeds):.1f}",
        f"{mean(each.known_good_per_s for each in seeds):.1f}",
        f"{mean(each.limit_cores for each in seeds):.2f}",
        f"{mean(each.used_cores for each in seeds):.2f}",
    ]
    return f"| {arm.name} | {threads} | {' | '.join(figures)} |"


def _compared(arm: Arm, alone: Arm, ours: Mapping[int, Judged], theirs: Mapping[int, Judged]) -> str:
    seeds = sorted(ours.keys() & theirs.keys())

    def ratios(figure: str) -> str:
        return ", ".join(f"{getattr(ours[seed], figure) / getattr(theirs[seed], figure):.2f}" for seed in seeds)

    figures = (ratios("p99_ms"), ratios("known_p99_ms"), ratios("known_good_per_s"))
    return f"| {arm.name} | {alone.name} | {' | '.join(figures)} |"


def _courses(runs: Sequence[Found]) -> list[str]:
    """Of the first seed: limits and sizes, by second."""
    lines = []
    for run in runs:
        if run["seed"] != runs[0]["seed"]:
            continue
        begin = run["seconds"][0]["at"]
        limits = ", ".join(f"{cores:g} at {round(at - begin)}" for at, cores in run["limits"])
        sizes = ", ".join(f"{size} at {round(at - begin)}" for at, size in run["sizes"])
        lines += [f"{run['arm']}, seed {run['seed']}: cores {limits}; threads {sizes}.", ""]
    return lines
