"""The group `sluice actuations`."""

import click

from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "list": Lazy("sluice.cli.actuations.commands:list_command", "List what actuators did, newest first."),
    "show": Lazy("sluice.cli.actuations.commands:show_command", "Show one report with the decision that it acted on."),
    "rollback": Lazy(
        "sluice.cli.actuations.commands:rollback_command", "Bring a pool back to the size before, and hold it there."
    ),
}


@click.group("actuations", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def actuations() -> None:
    """Read the audit of what actuators did, and take it back.

    Read from ClickHouse (SLUICE_CLICKHOUSE). An ID is that of a report, as `list` prints it; as much of its beginning
    as is no other's is enough. -o json prints objects of the columns of v_actuation_history.

    \b
    Examples:
      sluice actuations list --pool cart
      sluice actuations rollback 6f0c --dry-run
    """
