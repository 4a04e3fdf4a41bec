"""supervisord, with one more call over its socket: `restarts.counts`, how often it restarted each program.

It outlives a full disk of logs: a line that the disk does not take is lost.
"""

from collections import Counter
from contextlib import suppress
from typing import Any

from supervisor import events, loggers, supervisord
from supervisor.states import ProcessStates


class Restarts:
    """An interface of supervisord's XML-RPC: clients can call each public method."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        events.subscribe(events.ProcessStateStartingEvent, self._starting)

    def _starting(self, event: Any) -> None:
        if event.from_state in (ProcessStates.EXITED, ProcessStates.BACKOFF):  # a first start comes from STOPPED
            self._counts[event.process.config.name] += 1

    def counts(self) -> dict[str, int]:
        return dict(self._counts)


def make(_supervisord: Any, **_options: str) -> Restarts:
    """Called by supervisord, as its configuration says."""
    return Restarts()


def outlive_full_disks() -> None:
    """supervisord's handlers raise into its loop where neither the log nor its own output can be written. It then ends,
    nobody restarts anything, and programs end at their next line: nobody reads their output any more."""
    print_error, emit = loggers.Handler.handleError, loggers.RotatingFileHandler.emit

    def handle_error(handler: Any) -> None:
        with suppress(OSError):
            print_error(handler)

    def emit_or_lose(handler: Any, record: Any) -> None:
        with suppress(OSError, ValueError):  # ValueError: a stream that a failed rotation closed
            if handler.stream.closed:
                handler.reopen()
            emit(handler, record)

    loggers.Handler.handleError, loggers.RotatingFileHandler.emit = handle_error, emit_or_lose


if __name__ == "__main__":
    outlive_full_disks()
    supervisord.main()
