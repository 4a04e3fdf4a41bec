"""Plots a session as a PNG: the value of each trial, the best value so far, and failed trials."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sluice.cli.tuning.text import gain_text
from sluice.tuning.v1 import objective_pb2, session_pb2, trial_pb2

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    trial_pb2.VERDICT_GOOD: ("o", "tab:blue", "good"),
    trial_pb2.VERDICT_HOPELESS: ("v", "tab:orange", "given up early"),
    trial_pb2.VERDICT_UNSAFE: ("x", "tab:red", "passed an SLO"),
}


def draw(session: session_pb2.TuningSession, path: Path) -> None:
    """Writes the plot to `path`. A trial without a value is a line from top to bottom."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    measured = sorted((trial for trial in session.trials if trial.HasField("outcome")), key=lambda trial: trial.place)
    searched = [trial for trial in measured if trial.purpose == trial_pb2.PURPOSE_SEARCH]
    for verdict, (marker, colour, label) in _KINDS.items():
        some = [trial for trial in searched if trial.outcome.verdict == verdict and trial.outcome.HasField("value")]
        if some:
            values = [trial.outcome.value for trial in some]
            axes.scatter([trial.number for trial in some], values, marker=marker, color=colour, label=label, zorder=3)
    _intervals(axes, searched)
    _best_so_far(axes, searched)
    lost = [trial.number for trial in searched if not trial.outcome.HasField("value")]
    for number in lost:
        axes.axvline(number, color="tab:red", alpha=0.3, linewidth=2)
    if searched and searched[0].number == 0 and searched[0].outcome.HasField("value"):
        axes.axhline(searched[0].outcome.value, color="grey", linestyle=":", label="default")
    axes.set_xlabel("trial" + (" (red lines: failed)" if lost else ""))
    axes.set_ylabel(objective_text(session.plan.objective))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{session.plan.name}: {session.plan.method} on {session.plan.target}, gain {gain_text(session)}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    figure.savefig(path, format="png", dpi=120)


def _intervals(axes: Axes, trials: list[trial_pb2.Trial]) -> None:
    known = [t for t in trials if t.outcome.HasField("lower") and t.outcome.HasField("upper")]
    if known:
        below = [t.outcome.value - t.outcome.lower for t in known]
        above = [t.outcome.upper - t.outcome.value for t in known]
        values = [t.outcome.value for t in known]
        axes.errorbar([t.number for t in known], values, [below, above], fmt="none", ecolor="lightsteelblue", zorder=2)


def _best_so_far(axes: Axes, trials: list[trial_pb2.Trial]) -> None:
    numbers: list[int] = []
    best: list[float] = []
    for trial in trials:
        if trial.outcome.verdict == trial_pb2.VERDICT_GOOD:
            numbers.append(trial.number)
            best.append(min([*best[-1:], trial.outcome.value]))
    if best:
        axes.step(numbers, best, where="post", color="tab:blue", label="best so far")


def objective_text(objective: objective_pb2.Objective) -> str:
    """The objective as text, such as "p95_ms - 0.5 goodput_per_s"."""
    text = ""
    for term in objective.terms:
        name = objective_pb2.Metric.Name(term.metric).removeprefix("METRIC_").lower()
        factor = "" if abs(term.weight) == 1 else f"{abs(term.weight):g} "
        sign = ("- " if term.weight < 0 else "+ ") if text else ("-" if term.weight < 0 else "")
        text += f" {sign}{factor}{name}" if text else f"{sign}{factor}{name}"
    return text
