"""The command `sluice doctor`."""

from collections import Counter
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice.cli.doctor import clickhouse, collector, ends, flink, kafka, neo4j, recommender
from sluice.cli.doctor.finding import Finding, Level
from sluice.cli.doctor.run import run_checks
from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, console, output_option, print_json

#: In the order in which a span passes.
CHECKS = [
    *collector.CHECKS,
    *kafka.CHECKS,
    *flink.CHECKS,
    *clickhouse.CHECKS,
    *neo4j.CHECKS,
    *recommender.CHECKS,
    *ends.CHECKS,
]
_STYLES: dict[Level, str] = {"ok": "green", "warn": "yellow", "fail": "bold red", "unknown": "magenta"}


@click.command("doctor", epilog=EXIT_CODES)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 60),
    default=3.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each check may take; all run at once.",
)
@output_option("table", "json")
def doctor(timeout: float, output: str) -> None:
    """Check each stage, from collector to actuator, and say what is wrong and what to do.

    \b
    Levels:
      ok       as it should be
      warn     works, but look at it
      fail     does not work; the exit code is 1
      unknown  could not be looked at, so nothing is said

    -o json prints an array of objects with stage, what, level, text and remedy (empty when there is none).

    \b
    Examples:
      sluice doctor
      sluice doctor -o json | jq -r '.[] | select(.level == "fail") | .remedy'
    """
    findings = run_checks(CHECKS, addresses(), timeout)
    if output == "json":
        print_json([asdict(finding) for finding in findings])
    else:
        _print(console(), findings)
    if any(finding.level == "fail" for finding in findings):
        raise click.exceptions.Exit(1)


def _print(out: Console, findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("STAGE", "CHECK", "LEVEL"):
        table.add_column(name, no_wrap=True)
    table.add_column("FOUND", overflow="fold")
    for finding in findings:
        text = Text(finding.text)
        if finding.remedy:
            text.append(f"\n-> {finding.remedy}", style="italic")
        table.add_row(finding.stage, finding.what, Text(finding.level, style=_STYLES[finding.level]), text)
    out.print(table)
    counts = Counter(finding.level for finding in findings)
    out.print(", ".join(f"{counts[level]} {level}" for level in _STYLES if counts[level]), markup=False)
