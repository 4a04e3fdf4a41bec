"""Prints CurveEvidence: the goodput curve of an estimator, and its knee."""

from collections.abc import Iterator

import click

from sluice.cli.pools.curve_plot import CurvePlot, Symbols, plot_curve
from sluice.cli.table import columns, print_table
from sluice.pools.v1.evidence_pb2 import CurveEvidence

_POINTS = columns("CONCURRENCY>", "GOODPUT/S>", "FIT>", "SAMPLES>", "")


def curve_facts(curve: CurveEvidence) -> Iterator[tuple[str, str]]:
    yield "knee", f"at concurrency {curve.knee:.4g}" if curve.HasField("knee") else "none"
    degree = curve.polynomial_degree
    yield "fit", f"polynomial of degree {degree}" if degree else "none"


def print_curve(curve: CurveEvidence, symbols: Symbols) -> None:
    knee = curve.knee if curve.HasField("knee") else None
    scatter = [((point.concurrency, point.goodput_per_s), symbols.point) for point in curve.points]
    fit = [(point.concurrency, point.fitted_per_s) for point in curve.points if point.HasField("fitted_per_s")]
    legend = f"{symbols.point} measured  {symbols.fit} fitted  {symbols.knee} knee"
    click.echo(f"\ngoodput per second and instance, by concurrency   {legend}")
    for line in plot_curve(CurvePlot(scatter, fit, knee=knee), symbols=symbols):
        click.echo(line)
    print_table(_POINTS, _points(curve, knee))


def _points(curve: CurveEvidence, knee: float | None) -> Iterator[tuple[str, ...]]:
    nearest = None if knee is None else min(curve.points, key=lambda point: abs(point.concurrency - knee))
    for point in curve.points:
        fitted = f"{point.fitted_per_s:.1f}" if point.HasField("fitted_per_s") else "-"
        mark = "< knee" if point is nearest else ""
        yield f"{point.concurrency:.4g}", f"{point.goodput_per_s:.1f}", fitted, f"{point.samples:,}", mark
