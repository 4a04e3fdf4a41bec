"""The group `sluice subsets`."""

import click

from sluice.cli.lazy import LazyGroup, commands
from sluice.cli.output import EXIT_CODES

COMMANDS = commands(
    "sluice.cli.subsets",
    list=("served", "List the connections of each container, by the service that it calls."),
    get=("served", "Show the connections of one container."),
    explain=("served", "Show the evidence for the connections between two services."),
    watch=("served", "Print every subset when it changes, until you interrupt the command."),
    diff=("diff", "Show which connections are new or gone."),
    solve=("solve", "Solve the connections of an application in a file."),
)


@click.group("subsets", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def subsets() -> None:
    """Show connection subsets, or solve them for a file.

    A connection subset is the containers of one called service (DOWNSTREAM) that one container of a calling service
    (UPSTREAM INSTANCE) connects to.

    \b
    JSON output (-o json; the same with -o yaml, and one object a line with -o jsonl) has the field and enum names of
    the proto sluice.subsets.v1, in the form of `sluice pools`.
      list     an array of Subset
      get      a Subset
      explain  an ExplainPairResponse
      watch    a Subset a line (-o jsonl)

    \b
    Examples:
      sluice subsets list
      sluice subsets solve --input recommender/examples/shop.json
    """
