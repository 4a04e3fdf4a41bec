"""A localization on the screen, and as JSON."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice.estimate.critical import Localization, Ranked

COLUMNS = ("CPU", "CORRELATION", "P99/P50", "MEAN MS", "OF END TO END", "OF TRACES")


def print_ranking(out: Console, root: tuple[str, str], found: Localization) -> None:
    head = f"{'/'.join(root)}: {found.critical or 'no critical service'}, {found.traces:,} traces"
    out.print(Text(head, style="bold"), soft_wrap=True)
    for reason in (*found.reasons, *found.notes):
        out.print(Text(f"  {reason.code}: {reason.text}"), soft_wrap=True)
    if found.ranking:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("SERVICE", overflow="fold")
        for name in COLUMNS:
            table.add_column(name, justify="right")
        table.add_column("REASONS")
        for each in found.ranking:
            table.add_row(Text(each.service), *_cells(each), Text(" ".join(reason.code for reason in each.reasons)))
        out.print(table)
    out.print()


def as_json(root: tuple[str, str], found: Localization) -> dict[str, Any]:
    """Ratios 0..1, milliseconds; null where a signal is not known."""
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
                "share_of_end_to_end": each.share_of_end_to_end,
                "share_of_traces": each.share_of_traces,
                "reasons": [{"code": reason.code, "text": reason.text} for reason in each.reasons],
            }
            for each in found.ranking
        ],
    }


def _cells(each: Ranked) -> tuple[str, ...]:
    return (
        _or_dash(each.cpu, "{:.0%}"),
        _or_dash(each.correlation, "{:.2f}"),
        _or_dash(each.congestion_ratio, "{:.1f}"),
        f"{each.mean_ms:.2f}",
        f"{each.share_of_end_to_end:.0%}",
        f"{each.share_of_traces:.0%}",
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
