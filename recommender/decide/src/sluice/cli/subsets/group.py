"""The group `sluice subsets`."""

import click

from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "solve": Lazy(
        "sluice.cli.subsets.solve:solve_command",
        "Print who should be connected to whom, for an application in a file.",
    ),
}


@click.group("subsets", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def subsets() -> None:
    """Say which containers should be connected to which.

    \b
    Example:
      sluice subsets solve --input recommender/examples/shop.json
    """
