"""Prints skipped records, up to a number."""

from collections.abc import Callable

from sluice.cli.traces.replay.records import Skipped
from sluice.cli.traces.replay.totals import Totals

_SHOWN = 20


def say_skipped(note: Callable[[str], None], skipped: Skipped, totals: Totals) -> None:
    """Call once for each skipped record, after `totals` has counted it."""
    if totals.records_skipped <= _SHOWN:
        note(f"skipped {skipped}")
    if totals.records_skipped == _SHOWN:
        note("further skipped records are only counted")
