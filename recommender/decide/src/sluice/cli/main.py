"""The root of the command line."""

import os
import sys
from typing import NoReturn

import click

from sluice.cli import __version__
from sluice.cli.exit import die_of_interrupts, exit_code
from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "actuations": Lazy(
        "sluice.cli.pools.actuations.group:actuations", "Show the audit of actuators' writes, and roll one back."
    ),
    "completion": Lazy("sluice.cli.completion.command:completion", "Print the completion script of a shell."),
    "critical-path": Lazy(
        "sluice.cli.traces.critical_path.command:critical_path",
        "Print the critical path of each recorded trace, section by section.",
    ),
    "critical-service": Lazy(
        "sluice.cli.traces.critical_service.command:critical_service",
        "Name the service that holds up each root operation, with the evidence.",
    ),
    "doctor": Lazy(
        "sluice.cli.doctor.command:doctor",
        "Check each stage, from collector to actuator; name each finding and its remedy.",
    ),
    "estimate": Lazy(
        "sluice.cli.pools.estimate.command:estimate",
        "Estimate a pool size from rows of concurrency and goodput.",
    ),
    "pools": Lazy("sluice.cli.pools.group:pools", "Show pool sizes and their reasons; apply, pause and resume them."),
    "reload": Lazy(
        "sluice.cli.reload.command:reload_command",
        "Let the decider and the actuator read their configuration files again.",
    ),
    "replay": Lazy("sluice.cli.traces.replay.command:replay_command", "Send recorded traces to the collector as OTLP."),
    "report": Lazy(
        "sluice.cli.traces.report.command:report",
        "Report on an application from recorded traces or the running stack.",
    ),
    "sql": Lazy("sluice.cli.sql.command:sql", "Run one query on ClickHouse (SLUICE_CLICKHOUSE) as a read-only user."),
    "subsets": Lazy("sluice.cli.subsets.group:subsets", "Show connection subsets, or solve them for a file."),
    "tuning": Lazy("sluice.cli.tuning.group:tuning", "Search for a better configuration of an application in trials."),
}
#: Without a command. The order is that of docs/quick-start.md.
FIRST_DAY = """Commands of a first day:
  sluice doctor              check that traces arrive, and name what is wrong
  sluice pools discover      show the pools that the traces have, and what others lack
  sluice pools list          show each pool's size and the recommended one
  sluice pools explain cart  show why a pool has its recommendation
  sluice pools diff          show what would change

`sluice --help` lists all commands, `sluice COMMAND --help` explains one.
"""
_COMPLETE = "_SLUICE_COMPLETE"  # set by the scripts of `sluice completion`


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, prog_name="sluice")
@click.pass_context
def cli(context: click.Context) -> None:
    """Read the sizes that Sluice decides, their reasons, and set them.

    SLUICE_* variables set addresses. The defaults are those of the local stack (`make up`).

    \b
    Examples:
      sluice doctor
      sluice pools list
      sluice pools explain cart
      sluice estimate --pairs cart.csv
      sluice replay traces.jsonl.gz
      sluice report traces.jsonl.gz
      sluice critical-path traces.jsonl.gz
      sluice critical-service --root frontend
      sluice sql --list
      sluice subsets solve --input recommender/examples/shop.json
      sluice tuning start shop.yaml --name first
    """
    if context.invoked_subcommand is None:
        # As click's groups do, so that a script whose command is missing fails.
        click.echo(FIRST_DAY, err=True, nl=False)
        context.exit(2)


def main() -> NoReturn:
    die_of_interrupts()
    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(cli, {}, "sluice", _COMPLETE, os.environ[_COMPLETE]))
    sys.exit(exit_code(_run))


def _run() -> None:
    with cli.make_context("sluice", sys.argv[1:]) as context:
        cli.invoke(context)
