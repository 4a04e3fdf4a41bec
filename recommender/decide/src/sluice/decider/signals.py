"""Signals of the process, for its main thread to wait for."""

from __future__ import annotations

import select
import signal
import socket
from collections.abc import Iterable


class Signals:
    """Takes signals from now on. For the main thread.

    A handler that sets an event could stop for ever: it runs within the main thread, which may hold the event's lock.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self._arrived, self._arriving = socket.socketpair()
        for end in (self._arrived, self._arriving):
            end.setblocking(False)
        signal.set_wakeup_fd(self._arriving.fileno(), warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *_: None)

    def next(self, timeout_s: float) -> int | None:
        """The number of the next signal; None where none arrives in time."""
        ready, _, _ = select.select([self._arrived], [], [], timeout_s)
        return self._arrived.recv(1)[0] if ready else None
