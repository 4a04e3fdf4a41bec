"""How far a replay is: a live line on a terminal, a plain line every few seconds elsewhere."""

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sluice.cli.replay.totals import Totals

_EVERY_S = 5.0


class ProgressReport:
    """Use as a context manager; call `update` as often as you like."""

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock_s = clock_s
        self._said_s = clock_s()
        self._live: Progress | None = None
        if console.is_terminal:
            self._live = Progress(
                SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
            )
            self._task = self._live.add_task("reading", total=None)

    def __enter__(self) -> "ProgressReport":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def reading(self, totals: Totals) -> None:
        self._say(f"reading: {totals.traces_read:,} traces, {totals.spans_read:,} spans", None, None)

    def sending(self, totals: Totals, handed: int, of: int | None) -> None:
        """`handed` traces were handed to the sender, `of` how many there are (None: not known yet)."""
        known = f" of {of:,}" if of is not None else ""
        self._say(f"sending: {handed:,}{known} traces, {totals.spans_sent:,} spans answered", handed, of)

    def _say(self, text: str, done: int | None, of: int | None) -> None:
        if self._live is not None:
            self._live.update(self._task, description=text, completed=done or 0, total=of)
        elif self._clock_s() - self._said_s >= _EVERY_S:
            self._said_s = self._clock_s()
            self._console.print(text)
