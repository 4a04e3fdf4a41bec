"""Prints BeliefEvidence: measured points, the belief for each size, and the top of its curve."""

from collections.abc import Iterator

import click

from sluice.cli.pools.curve_plot import CurvePlot, Symbols, plot_curve
from sluice.cli.table import columns, print_table
from sluice.pools.v1.evidence_pb2 import BeliefEvidence, SeenPoint

_POINTS = columns("CONCURRENCY>", "THROUGHPUT/S>", "SECONDS>", "POOL")


def belief_facts(belief: BeliefEvidence) -> Iterator[tuple[str, str]]:
    yield "top of curve", _top(belief)
    yield "expected loss", f"{belief.loss:.1%} at the size in force" if belief.HasField("loss") else "-"
    yield "evidence", _evidence(belief)


def print_belief(belief: BeliefEvidence, symbols: Symbols) -> None:
    scatter = [
        ((point.concurrency, point.throughput_per_s), _symbol(point, belief, symbols)) for point in belief.points
    ]
    curve = CurvePlot(
        scatter=scatter,
        fit=[(point.size, point.throughput_per_s) for point in belief.curve],
        band=[(point.size, point.lower_per_s, point.upper_per_s) for point in belief.curve],
        knee=None if _beyond(belief) else belief.knee,
        best=None if _beyond(belief) else (belief.knee, belief.upper),
    )
    click.echo("\nthroughput per second and instance, by size")
    click.echo(_legend(belief, {symbol for _, symbol in scatter}, symbols))
    for line in plot_curve(curve, symbols=symbols):
        click.echo(line)
    print_table(_POINTS, (_row(point, belief) for point in belief.points))


def _top(belief: BeliefEvidence) -> str:
    """The curve knows no threshold, no bounds and no refused size. The range of the decision does."""
    text = f"at {belief.best}; {belief.knee} to {belief.upper} complete 99 % of it or more, in time or late"
    highest = max((point.concurrency for point in belief.points), default=0.0)
    return f"{text}; more than were ever in flight" if belief.knee > highest + 0.5 else text


def _beyond(belief: BeliefEvidence) -> bool:
    """Whether the knee lies beyond the plot, which ends at twice the largest concurrency or size in force."""
    return not belief.curve or belief.knee > belief.curve[-1].size


def _evidence(belief: BeliefEvidence) -> str:
    elsewhere = sum(point.seconds for point in belief.points if _elsewhere(point, belief))
    text = f"{belief.seconds:,.0f} s"
    if belief.cpu_limit_cores:  # 0 where it is not known
        text += f" on {belief.cpu_limit_cores:g} cores"
    return f"{text}, {elsewhere:,.0f} s on other CPU limits" if elsewhere else text


def _elsewhere(point: SeenPoint, belief: BeliefEvidence) -> bool:
    return point.cpu_limit_cores != belief.cpu_limit_cores


def _symbol(point: SeenPoint, belief: BeliefEvidence, symbols: Symbols) -> str:
    if _elsewhere(point, belief):
        return symbols.elsewhere
    return symbols.point if point.full else symbols.light


def _legend(belief: BeliefEvidence, used: set[str], symbols: Symbols) -> str:
    """The legend of the symbols in use."""
    texts = {symbols.point: "full pool", symbols.light: "not full", symbols.elsewhere: "other CPU limit"}
    legend = [f"{symbol} {text}" for symbol, text in texts.items() if symbol in used]
    legend += [f"{symbols.fit} belief of a full pool", f"{symbols.band} 80 % of it"]
    if not _beyond(belief):
        legend += [f"{symbols.knee} knee", f"{symbols.best} within 1 % of the top"]
    return "  ".join(legend)


def _row(point: SeenPoint, belief: BeliefEvidence) -> tuple[str, ...]:
    pool = "full" if point.full else "not full"
    where = f", {point.cpu_limit_cores:g} cores" if _elsewhere(point, belief) else ""
    return f"{point.concurrency:.4g}", f"{point.throughput_per_s:.1f}", f"{point.seconds:,.0f}", pool + where
