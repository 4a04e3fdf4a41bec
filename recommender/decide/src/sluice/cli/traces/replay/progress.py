"""Prints progress of commands that read traces: a live line on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from sluice.cli.output import note
from sluice.cli.pools.text import seconds
from sluice.cli.printable import printable
from sluice.cli.traces.replay.totals import Totals

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY_S = 5.0
#: A little less than the default limit of the streaming jobs.
AHEAD_WARN_S = 9.5 * 60


class ProgressReport:
    """A context manager whose methods may be called at any rate. Writes to standard error."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._said_s = clock_s()
        self._live: Progress | None = None
        if sys.stderr.isatty():
            self._live = _live_line()
            self._task = self._live.add_task("reading", total=None)

    def __enter__(self) -> ProgressReport:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def reading(self, totals: Totals) -> None:
        self._say(f"reading: {totals.traces_read:,} traces, {totals.spans_read:,} spans", None, None)

    def extent(self, traces: int, recorded_s: float, speed: float | None, times: str) -> None:
        """Prints the amount to be sent, and warns where spans would be too far in the future."""
        takes_s = 0.0 if speed is None else recorded_s / speed
        pace = "as fast as the collector takes them" if speed is None else f"within {seconds(takes_s)}"
        self.note(f"{traces:,} traces of {seconds(recorded_s)} of time, sent {pace}")
        if times == "now" and recorded_s - takes_s > AHEAD_WARN_S:
            self.note(
                f"the last spans will be {seconds(recorded_s - takes_s)} in the future; the streaming jobs refuse "
                f"spans more than {seconds(AHEAD_WARN_S)} ahead (max-ahead-ms): use --times past, or a lower --speed"
            )

    def note(self, text: str) -> None:
        """Prints a line that stays, above the live one if any."""
        if self._live is None:
            note(text)
        else:
            self._live.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def sending(self, totals: Totals, handed: int, of: int | None) -> None:
        """`handed`: traces passed to the sender. `of`: all traces (None: not known yet)."""
        known = f" of {of:,}" if of is not None else ""
        self._say(f"sending: {handed:,}{known} traces, {totals.spans_sent:,} spans answered", handed, of)

    def walking(self, handed: int, of: int) -> None:
        """`handed` of `of` traces were passed to the program that computes paths."""
        self._say(f"walking: {handed:,} of {of:,} traces", handed, of)

    def _say(self, text: str, done: int | None, of: int | None) -> None:
        if self._live is not None:
            self._live.update(self._task, description=text, completed=done or 0, total=of)
        elif self._clock_s() - self._said_s >= _EVERY_S:
            self._said_s = self._clock_s()
            note(text)


def _live_line() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(file=sys.stderr))
