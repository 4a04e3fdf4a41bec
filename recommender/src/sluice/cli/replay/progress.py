"""How far a command that reads traces is: a live line on a terminal, a plain line every few seconds elsewhere."""

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sluice.cli.pools.words import seconds
from sluice.cli.replay.totals import Totals

_EVERY_S = 5.0
#: What the streaming jobs take by default, less a little.
AHEAD_WARN_S = 9.5 * 60


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

    def extent(self, traces: int, recorded_s: float, speed: float | None, times: str) -> None:
        """Says what is about to be sent, and warns where spans would lie too far in the future."""
        takes_s = 0.0 if speed is None else recorded_s / speed
        pace = "as fast as the collector takes them" if speed is None else f"within {seconds(takes_s)}"
        self._console.print(f"{traces:,} traces of {seconds(recorded_s)} of time, sent {pace}", markup=False)
        if times == "now" and recorded_s - takes_s > AHEAD_WARN_S:
            self._console.print(
                f"the last spans will lie {seconds(recorded_s - takes_s)} in the future, and the streaming jobs refuse "
                f"what is {seconds(AHEAD_WARN_S)} ahead (max-ahead-ms): use --times past, or a lower --speed",
                markup=False,
                soft_wrap=True,
            )

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
            self._console.print(text)
