"""The group `sluice subsets`."""

import click

from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "list": Lazy("sluice.cli.subsets.served:list_command", "List who is connected to whom."),
    "get": Lazy("sluice.cli.subsets.served:get_command", "Show the connections of one container."),
    "explain": Lazy("sluice.cli.subsets.served:explain_command", "Show what the connections of a pair rest on."),
    "watch": Lazy("sluice.cli.subsets.served:watch_command", "Print every subset as it changes, until interrupted."),
    "diff": Lazy("sluice.cli.subsets.diff:diff_command", "Show which connections are new or gone."),
    "solve": Lazy(
        "sluice.cli.subsets.solve:solve_command",
        "Print who should be connected to whom, for an application in a file.",
    ),
}


@click.group("subsets", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def subsets() -> None:
    """Ask which containers are connected to which, or solve it for a file.

    A subset is of one container of a calling service (UPSTREAM INSTANCE) towards one service that it calls
    (DOWNSTREAM).

    \b
    Output as JSON (-o json; the same with -o yaml, and one object a line with -o jsonl): field names and enum names of
    the proto sluice.subsets.v1, as of `sluice pools`.
      list     an array of Subset
      get      a Subset
      explain  an ExplainPairResponse
      watch    a Subset a line (-o jsonl)

    \b
    Examples:
      sluice subsets list
      sluice subsets solve --input recommender/examples/shop.json
    """
