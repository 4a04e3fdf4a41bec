"""Ends a process whose loop hangs: whatever keeps the process starts it again, also where nobody asks /livez."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable

from sluice.engine.health import Health

log = logging.getLogger(__name__)

EVERY_S = 5.0
# A process that was stopped, and goes on, gets so many looks to make progress.
LOOKS = 3
# sysexits(3), EX_SOFTWARE.
HUNG = 70


def watch(
    health: Health, end: Callable[[int], object] = os._exit, sleep: Callable[[float], object] = time.sleep
) -> None:
    """Runs until the loop hangs.

    The loop waits in librdkafka until a time of day: once a clock that was an hour ahead is right again, such a wait
    takes an hour. No exception and no signal ends it.
    """
    hung: list[str] = []
    while len(hung) < LOOKS:
        sleep(EVERY_S)
        hangs = health.hangs()
        hung = [*hung, *hangs] if hangs else []
    log.critical("%s: the process ends, to be started again", hung[-1])
    end(HUNG)
