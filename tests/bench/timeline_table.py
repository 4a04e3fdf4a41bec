"""Figures of timelines, and what was answered in them, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bench.timeline import Timeline


def figures(runs: Mapping[str, Timeline], spans: Mapping[str, tuple[float, float]]) -> str:
    """A row per run and span of time (s): p99 and goodput of the users, and what stands in the answers."""
    lines = ["| run | time | p99 (ms) | good responses/s | of all | pool size |", "|---|---|---|---|---|---|"]
    for name, run in runs.items():
        for what, (since, until) in spans.items():
            good, rate = run.goodput_per_s(since, until), run.rate_per_s(since, until)
            share = good / rate if rate else float("nan")
            sizes = _range(run, since, until)
            p99 = run.p99_s(since, until) * 1e3
            lines.append(f"| {name} | {what} | {p99:,.0f} | {good:.1f} | {share:.1%} | {sizes} |")
    return "\n".join([*lines, "", *(answers(name, run) for name, run in runs.items() if run.course)]) + "\n"


def _range(run: Timeline, since_s: float, until_s: float) -> str:
    """Sizes in force in [since, until)."""
    before = [size for at, size in run.size if at <= since_s][-1:]
    sizes = [*before, *(size for at, size in run.size if since_s < at < until_s)]
    low, high = min(sizes), max(sizes)
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def answers(name: str, run: Timeline) -> str:
    """Periods by state, what was believed to be the best size, and every change of size with what it stands on."""
    states = ", ".join(f"{n} {state}" for state, n in Counter(each.state for each in run.course).most_common())
    best = [each.best for each in run.course if each.best is not None]
    own = f"{min(best)} to {max(best)} in {len(best)}" if best else "none"
    basis = {each.at_s: each.basis for each in run.course}
    moves = "; ".join(f"{at:.0f} s {size:.0f} ({basis.get(at, '')})" for at, size in run.size[1:])
    return f"{name}: {len(run.course)} periods, {states}; believed to be best: {own}. Sizes: {moves or 'no change'}."
