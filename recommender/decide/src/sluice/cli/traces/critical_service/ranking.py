"""Prints a localization, and converts it to JSON."""

from typing import Any

import click

from sluice.cli.output import say
from sluice.cli.table import Column, print_table
from sluice.pools.estimate.critical import Localization, Ranked

COLUMNS = (
    Column("SERVICE", fold=True),
    *(Column(n, right=True) for n in ("CPU", "CORRELATION", "P99/P50", "MEAN MS", "WAIT MS", "BLAME MS")),
    *(Column(n, right=True) for n in ("OF END TO END", "OF TRACES")),
    Column("REASONS"),
)


def print_ranking(root: tuple[str, str], found: Localization) -> None:
    say(f"{'/'.join(root)}: {found.critical or 'no critical service'}, {found.traces:,} traces", style="bold")
    for reason in (*found.reasons, *found.notes):
        say(f"  {reason.code}: {reason.text}")
    if found.ranking:
        print_table(COLUMNS, map(_row, found.ranking))
    click.echo()


def as_json(root: tuple[str, str], found: Localization) -> dict[str, Any]:
    """Ratios 0..1, milliseconds; null where a value is not known."""
    service, operation = root
    return {
        "root_service": service,
        "root_operation": operation,
        "traces": found.traces,
        "critical_service": found.critical,
        "reasons": [{"code": reason.code, "text": reason.text} for reason in (*found.reasons, *found.notes)],
        "ranking": [
            {
                "service": each.service,
                "cpu_utilization": each.cpu,
                "correlation": each.correlation,
                "congestion_ratio": each.congestion_ratio,
                "mean_ms": each.mean_ms,
                "wait_ms": each.wait_ms,
                "blame_ms": each.blame_ms,
                "share_of_end_to_end": each.share_of_end_to_end,
                "share_of_traces": each.share_of_traces,
                "pool_size": each.pool,
                "most_in_flight": each.in_flight,
                "reasons": [{"code": reason.code, "text": reason.text} for reason in each.reasons],
            }
            for each in found.ranking
        ],
    }


def _row(each: Ranked) -> tuple[str, ...]:
    return (
        each.service,
        _or_dash(each.cpu, "{:.0%}"),
        _or_dash(each.correlation, "{:.2f}"),
        _or_dash(each.congestion_ratio, "{:.1f}"),
        f"{each.mean_ms:.2f}",
        f"{each.wait_ms:.2f}",
        f"{each.blame_ms:.2f}",
        f"{each.share_of_end_to_end:.0%}",
        f"{each.share_of_traces:.0%}",
        " ".join(reason.code for reason in each.reasons),
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
