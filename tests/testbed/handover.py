"""Commands of other threads, run by the thread that owns the simulation."""

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Handover:
    """``ask`` waits for its turn in the loop of the owner, which spends its idle time in ``serve``."""

    def __init__(self, limit: int = 64) -> None:
        self._commands: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue(limit)

    def ask(self, command: Callable[[], T], timeout: float = 5.0) -> T:
        """Runs ``command`` in the owner's thread and returns its result, or raises what it raised.

        Raises:
            TimeoutError: the owner did not take it up in time; it will not be run later.
        """
        future: Future[T] = Future()
        try:
            self._commands.put((command, future), timeout=timeout)
            return future.result(timeout)
        except (queue.Full, TimeoutError):
            if future.cancel() or not future.done():
                raise TimeoutError("the simulation is busy or has stopped") from None
            return future.result()

    def serve(self, seconds: float) -> None:
        """Runs commands as they come, for that long; at least those that are waiting."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                command, future = self._commands.get(left > 0, left if left > 0 else None)
            except queue.Empty:
                return
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(command())
            except Exception as error:  # belongs to whoever asked
                future.set_exception(error)
