"""The results as Markdown: means over runs with the half of their 95 % interval over seeds, and who was named."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import geometric_mean, mean, stdev
from typing import Any

from scipy.stats import t as student

from bench.real.localized import score
from bench.real.measured import Task
from bench.real.methods import SLO_MS

COLUMNS = {
    "p50, ms": "p50_ms", "p95, ms": "p95_ms", "p99, ms": "p99_ms", f"good within {SLO_MS} ms, a second": "good_per_s",
    "failed": "failed", "cores used": "cores_used", "cores limited to": "cores_limited",
    "cores of the stack": "stack_cores",
}  # fmt: skip
#: (rival, its p99 over Sluice's at least): of Sora's Tables 2 and 3, uConAdapter's Table 3.
BARS = (("hardware only", 2.5), ("sct as published", 1.5))
MORE_GOOD = 1.1
WAYS = ("sluice", "sluice, CPU known", "CPU alone")


def interval(values: Sequence[float | None]) -> str:
    """Mean and half of the 95 % interval (Student's t); a mean alone of one value; "over" where a value has no end.

    Worked: 10 and 12 are 11 with a standard error of 1, and t is 12.7: 11 ± 12.7.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return "no end"
    middle = mean(known)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    if len(known) == 1:
        return f"{middle:.{digits}f}"
    half = float(student.ppf(0.975, len(known) - 1)) * stdev(known) / len(known) ** 0.5
    return f"{middle:.{digits}f} ± {half:.{digits}f}"


def comparison(found: Mapping[Task, Mapping[str, Any]], seconds: float) -> str:
    by_load: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for (method, load, loop, _), item in found.items():
        by_load[load, loop][method].append(item)
    late = max(item["late_ms"] for item in found.values())
    behind = max(item["behind_s"] for item in found.values())
    lines = [
        f"{len(found)} runs of {seconds:g} s. The load's own program was late by {late:.0f} ms at most, the pipeline"
        f" behind by {behind:.0f} s at most at the end of a run.",
    ]
    for (load, loop), methods in by_load.items():
        lines += ["", f"`{load}`, {loop} loop:", "", f"| method | runs | {' | '.join(COLUMNS)} | changes |"]
        lines.append("| --- |" + " --- |" * (len(COLUMNS) + 2))
        for method, items in methods.items():
            cells = [interval([item[key] for item in items]) for key in COLUMNS.values()]
            changes = interval([float(len(item["courses"]) - 1) for item in items])
            lines.append(f"| {method} | {len(items)} | {' | '.join(cells)} | {changes} |")
    return "\n".join([*lines, "", *against_bars(found), ""])


def against_bars(found: Mapping[Task, Mapping[str, Any]]) -> list[str]:
    """Sluice beside each rival in runs of the same load, loop and seed: geometric means of the ratios.

    Worked: p99 of 400 and 900 ms, of the rival 800 and 3,600 ms: ratios 2 and 4, mean 2.83.
    """
    lines = ["| Sluice against | pairs | its p99 over Sluice's | Sluice's goodput over its | Sluice's cores over its |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for rival, least in BARS:
        pairs = [
            (item, found[(rival, *task[1:])])
            for task, item in found.items()
            if task[0] == "sluice" and (rival, *task[1:]) in found
        ]
        if not pairs:
            continue
        ended = [(a["p99_ms"], b["p99_ms"]) for a, b in pairs if a["p99_ms"] and b["p99_ms"]]
        p99 = f"{geometric_mean([b / a for a, b in ended]):.2f}" if len(ended) == len(pairs) else "no end"
        good = geometric_mean([a["good_per_s"] / b["good_per_s"] for a, b in pairs])
        cores = geometric_mean([a["cores_used"] / b["cores_used"] for a, b in pairs])
        bars = f"{p99} (bar {least}) | {good:.2f} (bar {MORE_GOOD}) | {cores:.2f} (bar 1)"
        lines.append(f"| {rival} | {len(pairs)} | {bars} |")
    return lines if len(lines) > 2 else []


def localization(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["", f"{len(found)} bottlenecks without a label; named first:", "", "| way | right |", "| --- | --- |"]
    for way in WAYS:
        right, whole = score([dict(item) for item in found], way)
        lines.append(f"| {way} | {right} of {whole} ({right / whole:.0%}) |")
    lines += ["", f"| bottleneck | {' | '.join(WAYS)} |", "| --- |" + " --- |" * len(WAYS)]
    lines += [f"| {item['fault']} | {' | '.join(item[way] or 'none' for way in WAYS)} |" for item in found]
    return "\n".join([*lines, ""])
