"""Prints a localization, and converts it to JSON."""

from typing import Any

import click

from sluice.cli.output import say
from sluice.cli.table import columns, print_table
from sluice.pools.estimate.critical import Localization, Ranked

COLUMNS = columns(
    *(
        "SERVICE~",
        "CPU>",
        "CORRELATION>",
        "P99/P50>",
        "MEAN MS>",
        "WAIT MS>",
        "BLAME MS>",
        "OF END TO END>",
        "OF TRACES>",
    ),
    "REASONS",
)


def print_ranking(root: tuple[str, str], localization: Localization) -> None:
    say(
        f"{'/'.join(root)}: {localization.critical or 'no critical service'}, {localization.traces:,} traces",
        style="bold",
    )
    for reason in (*localization.reasons, *localization.notes):
        say(f"  {reason.code}: {reason.text}")
    if localization.ranking:
        print_table(COLUMNS, map(_row, localization.ranking))
    click.echo()


def as_json(root: tuple[str, str], localization: Localization) -> dict[str, Any]:
    """Ratios 0..1, milliseconds; null where a value is not known."""
    service, operation = root
    return {
        "root_service": service,
        "root_operation": operation,
        "traces": localization.traces,
        "critical_service": localization.critical,
        "reasons": [
            {"code": reason.code, "text": reason.text} for reason in (*localization.reasons, *localization.notes)
        ],
        "ranking": [
            {
                "service": ranked.service,
                "cpu_utilization": ranked.cpu,
                "correlation": ranked.correlation,
                "congestion_ratio": ranked.congestion_ratio,
                "mean_ms": ranked.mean_ms,
                "wait_ms": ranked.wait_ms,
                "blame_ms": ranked.blame_ms,
                "share_of_end_to_end": ranked.share_of_end_to_end,
                "longer_than_usual_ms": ranked.longer_ms,
                "share_of_traces": ranked.share_of_traces,
                "pool_size": ranked.pool,
                "most_in_flight": ranked.in_flight,
                "reasons": [{"code": reason.code, "text": reason.text} for reason in ranked.reasons],
            }
            for ranked in localization.ranking
        ],
    }


def _row(ranked: Ranked) -> tuple[str, ...]:
    return (
        ranked.service,
        _or_dash(ranked.cpu, "{:.0%}"),
        _or_dash(ranked.correlation, "{:.2f}"),
        _or_dash(ranked.congestion_ratio, "{:.1f}"),
        f"{ranked.mean_ms:.2f}",
        f"{ranked.wait_ms:.2f}",
        f"{ranked.blame_ms:.2f}",
        f"{ranked.share_of_end_to_end:.0%}",
        f"{ranked.share_of_traces:.0%}",
        " ".join(reason.code for reason in ranked.reasons),
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
