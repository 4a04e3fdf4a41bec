"""Waits for a server that is still starting."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from migrate.errors import MigrateError

T = TypeVar("T")
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 3.0


def until_ready(
    what: str,
    attempt: Callable[[], T],
    not_ready: tuple[type[Exception], ...],
    limit_s: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> T:
    """Calls `attempt` until it does not raise one of `not_ready`, at most `limit_s` seconds.

    Pauses double from 0.1 s to 3 s, each shortened by up to a half (`jitter` in 0..1), so that several waiters spread.
    """
    start = clock()
    pause = FIRST_PAUSE_S
    while True:
        try:
            return attempt()
        except not_ready as error:
            left = limit_s - (clock() - start)
            if left <= 0:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise MigrateError(f"connect to {what}: not ready after {limit_s:g} s: {reason}") from error
            sleep(min(left, pause * (1 - jitter() / 2)))
            pause = min(LONGEST_PAUSE_S, pause * 2)
