"""The group `sluice actuations`."""

import click

from sluice.cli.lazy import LazyGroup, commands
from sluice.cli.output import EXIT_CODES

COMMANDS = commands(
    "sluice.cli.pools.actuations",
    list=("commands", "List actuators' reports, newest first."),
    show=("commands", "Show one report and the decision that it acted on."),
    rollback=("commands", "Set a pool back to its previous size, and hold it there."),
)


@click.group("actuations", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def actuations() -> None:
    """Show the audit of actuators' writes, and roll one back.

    The audit is in ClickHouse (SLUICE_CLICKHOUSE). ID is the id of a report, as `list` prints it; its first characters
    do, as far as they are unique. -o json prints objects with the columns of v_actuation_history.

    \b
    Examples:
      sluice actuations list --pool cart
      sluice actuations rollback 6f0c --dry-run
    """
