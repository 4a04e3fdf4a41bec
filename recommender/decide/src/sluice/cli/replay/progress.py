"""How far a command that reads traces is: a live line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from sluice.cli.output import note
from sluice.cli.pools.words import seconds
from sluice.cli.printable import printable
from sluice.cli.replay.totals import Totals

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY_S = 5.0
#: What the streaming jobs take by default, less a little.
AHEAD_WARN_S = 9.5 * 60


class ProgressReport:
    """Use as a context manager; call its methods as often as you like. All goes to standard error."""

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
        """Says what is about to be sent, and warns where spans would lie too far in the future."""
        takes_s = 0.0 if speed is None else recorded_s / speed
        pace = "as fast as the collector takes them" if speed is None else f"within {seconds(takes_s)}"
        self.note(f"{traces:,} traces of {seconds(recorded_s)} of time, sent {pace}")
        if times == "now" and recorded_s - takes_s > AHEAD_WARN_S:
            self.note(
                f"the last spans will lie {seconds(recorded_s - takes_s)} in the future, and the streaming jobs refuse "
                f"what is {seconds(AHEAD_WARN_S)} ahead (max-ahead-ms): use --times past, or a lower --speed"
            )

    def note(self, text: str) -> None:
        """A line that stays; above the live one where there is one."""
        if self._live is None:
            note(text)
        else:
            self._live.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def sending(self, totals: Totals, handed: int, of: int | None) -> None:
        """`handed` traces were handed to the sender, `of` how many there are (None: not known yet)."""
        known = f" of {of:,}" if of is not None else ""
        self._say(f"sending: {handed:,}{known} traces, {totals.spans_sent:,} spans answered", handed, of)

    def walking(self, handed: int, of: int) -> None:
        """`handed` of `of` traces were handed over to have their paths computed."""
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
