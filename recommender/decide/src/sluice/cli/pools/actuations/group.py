"""The group `sluice actuations`."""

import click

from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "list": Lazy("sluice.cli.pools.actuations.commands:list_command", "List actuators' reports, newest first."),
    "show": Lazy(
        "sluice.cli.pools.actuations.commands:show_command", "Show one report and the decision that it acted on."
    ),
    "rollback": Lazy(
        "sluice.cli.pools.actuations.commands:rollback_command",
        "Set a pool back to its previous size, and hold it there.",
    ),
}


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
