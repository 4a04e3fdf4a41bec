"""Timelines as a picture: one column a run, one row a quantity, the same axes for all runs, changes marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.timeline import STEP_S, Steps, Timeline

GOOD, BAD, LINE, MARK = "#2b7a3d", "#c9c9c9", "#1f4e79", "#b3261e"
BEST = "#8a6d1d"
WIDTH_IN, ROW_IN, DPI = 13.0, 2.1, 90


def plot(
    path: Path,
    title: str,
    runs: Mapping[str, Timeline],
    slo_s: float,
    marks: Sequence[tuple[float, str]],
    hardware: str,
    best: Sequence[tuple[float, float, str]] = (),
) -> None:
    """Writes a PNG.

    marks: (second, what changed then); hardware: "cores" or "replicas", what the autoscaler moves; best: (from second,
    size, what it is) where the best fixed size is known.
    """
    figure = Figure(figsize=(WIDTH_IN, 4 * ROW_IN + 0.6), dpi=DPI, layout="constrained")
    grid: np.ndarray = figure.subplots(4, len(runs), sharex=True, sharey="row", squeeze=False)
    for column, (name, run) in zip(grid.T, runs.items(), strict=True):
        column[0].set_title(name, fontsize=12, fontweight="bold")
        _goodput(column[0], run)
        _p99(column[1], run, slo_s)
        _size(column[2], run, best)
        _hardware(column[3], run, hardware)
        for axes in column:
            for second, _ in marks:
                axes.axvline(second, color=MARK, linewidth=1.2, linestyle="--")
            axes.grid(alpha=0.25)
            axes.set_xlim(0, run.seconds)
        for second, what in marks:
            column[1].annotate(
                what,
                (second, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(4, -4),
                textcoords="offset points",
                color=MARK,
                fontsize=8,
                va="top",
            )
        column[-1].set_xlabel("time (s)")
    labels = ("users' responses/s", "users' p99 (s)", "pool size", _unit(hardware))
    for axes, label in zip(grid[:, 0], labels, strict=True):
        axes.set_ylabel(label)
    # Only now: limits that are set before the last column is drawn would cut it off.
    grid[0, 0].set_ylim(bottom=0)
    for row, steps in ((2, [run.size for run in runs.values()]), (3, [_of(run, hardware) for run in runs.values()])):
        grid[row, 0].set_ylim(0, 1.2 * max(value for each in steps for _, value in each))
    grid[1, 0].set_ylim(top=3 * grid[1, 0].get_ylim()[1])
    grid[0, 0].legend(loc="lower left", fontsize=8, framealpha=0.85)
    figure.suptitle(title, fontsize=12)
    figure.savefig(path)


def _unit(hardware: str) -> str:
    return "CPU limit (cores)" if hardware == "cores" else "replicas"


def _of(run: Timeline, hardware: str) -> Steps:
    return run.cores if hardware == "cores" else run.replicas


def _goodput(axes: Axes, run: Timeline) -> None:
    starts = np.arange(0.0, run.seconds, STEP_S)
    everything = [run.rate_per_s(at, at + STEP_S) for at in starts]
    good = [run.goodput_per_s(at, at + STEP_S) for at in starts]
    axes.fill_between(starts, good, everything, step="post", color=BAD, label="too late")
    axes.fill_between(starts, good, step="post", color=GOOD, alpha=0.35)
    axes.step(starts, good, where="post", color=GOOD, label="good")


def _p99(axes: Axes, run: Timeline, slo_s: float) -> None:
    starts = np.arange(0.0, run.seconds, STEP_S)
    axes.step(starts, [run.p99_s(at, at + STEP_S) for at in starts], where="post", color=LINE)
    axes.axhline(slo_s, color=GOOD, linewidth=1, linestyle=":")
    axes.annotate(f"SLO {slo_s * 1e3:.0f} ms", (run.seconds, slo_s), fontsize=8, color=GOOD, ha="right", va="bottom")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _size(axes: Axes, run: Timeline, best: Sequence[tuple[float, float, str]]) -> None:
    _steps(axes, run.size, run.seconds)
    ends = [*(since for since, _, _ in best), run.seconds][1:]
    for (since, size, what), until in zip(best, ends, strict=True):
        axes.hlines(size, since, until, color=BEST, linestyle=":", linewidth=1.5)
        axes.annotate(what, (since, size), xytext=(4, 3), textcoords="offset points", fontsize=8, color=BEST)


def _hardware(axes: Axes, run: Timeline, hardware: str) -> None:
    _steps(axes, _of(run, hardware), run.seconds)


def _steps(axes: Axes, steps: Steps, until_s: float) -> None:
    at, value = zip(*steps, strict=True)
    axes.step([*at, until_s], [*value, value[-1]], where="post", color=LINE)
