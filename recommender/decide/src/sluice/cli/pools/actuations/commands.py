"""The commands `sluice actuations list | show | rollback`."""

from datetime import UTC, datetime

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, FORMS, CliError, output_option, print_items, say, show_list
from sluice.cli.pools.actuations.audit import COLUMNS, audit, cells, report, selector
from sluice.cli.pools.client import connect
from sluice.cli.pools.options import address_option, by_option, dry_run_option, selected, why_option
from sluice.cli.pools.selector import pool_name, shell_word
from sluice.cli.pools.text import not_written_yet
from sluice.cli.table import print_table


@click.command("list", epilog=EXIT_CODES)
@click.option("--pool", default="", metavar="POOL", help="Only reports of this pool.")
@click.option("--limit", type=Whole(1, 10_000), default=20, show_default=True, help="Number of reports.")
@output_option(*FORMS)
def list_command(pool: str, limit: int, output: str) -> None:
    """List actuators' reports, newest first.

    A report is an attempt to write a size, or an observed size that changed.

    \b
    Examples:
      sluice actuations list --limit 5
      sluice actuations list --pool cart -o json | jq -r '.[] | select(.outcome == "APPLIED") | .request_id'
    """
    rows = audit(selected(pool) if pool else None, limit=limit)
    show_list(rows, output, lambda shown: print_table(COLUMNS, map(cells, shown)), "nothing is recorded")


@click.command("show", epilog=EXIT_CODES)
@click.argument("id_", metavar="ID")
@output_option(*FORMS)
def show_command(id_: str, output: str) -> None:
    """Show one report and the decision that it acted on.

    \b
    Example:
      sluice actuations show 6f0c
    """
    row = report(id_)
    if output != "table":
        print_items([row], output)
        return
    for name, value in row.items():
        if value not in (None, ""):
            say(f"{name:<14}{value}")


@click.command("rollback", epilog=EXIT_CODES)
@click.argument("id_", metavar="ID")
@why_option
@by_option
@dry_run_option
@address_option
def rollback_command(id_: str, why: str, by: str, dry_run: bool, address: str) -> None:
    """Set a pool back to its previous size, and hold it there.

    The previous size is the one before actuation ID. All of the pool's targets that apply decisions get the size.
    `sluice pools resume POOL` lets Sluice decide again. The pool's bounds and the targets' own limits still hold.

    \b
    Example:
      sluice actuations rollback 6f0c --why "p99 is up since"
    """
    row = report(id_)
    if row["outcome"] != "APPLIED" or row["previous"] is None:
        raise CliError(
            f"{row['request_id']} has OUTCOME {row['outcome']}: there is nothing to roll back to; legal: the ID of a "
            "row with OUTCOME APPLIED and a size BEFORE it"
        )
    name, size = pool_name(selector(row).pool()), int(row["previous"])
    what = f"{name} to {size}, as before {row['request_id']} ({size} -> {row['read_back']} at {row['at']})"
    if dry_run:
        say(f"would set {what}")
        return
    because = f"rollback of {row['request_id']}" + (f": {why}" if why else "")
    with connect(address) as client:
        decision = client.get(selector(row))
        client.pause(selector(row), by, because, size)
    say(f"sets {what}, and holds it there until `sluice pools resume {shell_word(selector(row).pool())}`")
    if delay := not_written_yet(decision, datetime.now(UTC)):
        say(delay)
