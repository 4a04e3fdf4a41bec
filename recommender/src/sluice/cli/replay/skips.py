"""Says which records were left out, until there are too many of them."""

from rich.console import Console

from sluice.cli.replay.records import Skipped
from sluice.cli.replay.totals import Totals

_SHOWN = 20


def say_skipped(notes: Console, skipped: Skipped, totals: Totals) -> None:
    """Call once for each skipped record, after `totals` has counted it."""
    if totals.records_skipped <= _SHOWN:
        notes.print(f"skipped {skipped}", markup=False, soft_wrap=True)
    if totals.records_skipped == _SHOWN:
        notes.print("more skipped records are only counted", markup=False)
