"""The command `sluice subsets diff`."""

import click

from sluice.cli.output import EXIT_CODES, output_option, print_item, say
from sluice.cli.pools.options import address_option
from sluice.cli.subsets.options import Filter
from sluice.cli.table import columns, print_table

_COLUMNS = columns("UPSTREAM", "FROM", "DOWNSTREAM", "TO", "BEFORE>", "AFTER>")


@click.command("diff", epilog=EXIT_CODES)
@click.argument("before", metavar="BEFORE", type=click.Path())
@click.argument("after", metavar="[AFTER]", type=click.Path(), required=False)
@click.option("--weights", is_flag=True, help="Also connections in both whose weight differs by 1 % or more.")
@address_option
@output_option("table", "json")
def diff_command(before: str, after: str | None, weights: bool, address: str, output: str) -> None:
    """Show which connections are new or gone.

    It compares two files, or a file and the present plan. A file is output of `sluice subsets list -o json` or `sluice
    subsets solve -o json`. Weights are relative to the container's others: their mean is 1.

    \b
    Examples:
      sluice subsets list -o json > before.json; ...; sluice subsets diff before.json
      sluice subsets diff before.json dry-run.json --weights
    """
    from sluice.cli.subsets.connection_changes import connections_of_file, connections_of_subsets, difference

    was = connections_of_file(before)
    if after is not None:
        now = connections_of_file(after)
    else:
        from sluice.cli.subsets.client import connect

        with connect(address) as client:
            now = connections_of_subsets(client.list(Filter()))
    diff = difference(was, now, weights)
    if output == "json":
        print_item(diff.to_json(), "json")
        return
    if diff.changes:
        print_table(_COLUMNS, (change.row() for change in diff.changes))
    say(f"{diff.moved} of {diff.connections} connections changed ({diff.churn:.1%})", "bold")
