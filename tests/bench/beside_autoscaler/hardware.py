"""The autoscaler: the HPA's rule, in tenths of a core of one process's CPU limit in the place of replicas.

Kubernetes' defaults are a look every 15 s, a tolerance of 0.1 and, downwards, the largest answer of the last 300 s;
a new replica is ready 15 s later in ConScale IV-A. Here all of these times are a sixth, as the load has its bursts
within 5 minutes.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from testbed.autoscale import HorizontalScaler

FASTER = 6.0
PERIOD_S, STABLE_S, READY_S = 15.0 / FASTER, 300.0 / FASTER, 15.0 / FASTER
UNITS_A_CORE = 10
LOWEST, HIGHEST = 3, 8

Changes = list[tuple[float, float]]
"""(Unix seconds, cores) of each limit from when on it was in force."""


class Autoscaler:
    """force: puts a limit (cores) in force. tell: says it to the actuator's source of scaling. used_s: CPU seconds used
    so far."""

    def __init__(
        self,
        force: Callable[[float], None],
        tell: Callable[[float], None],
        used_s: Callable[[], float],
        soft_first: bool = False,
    ) -> None:
        self._force, self._tell, self._used_s, self._soft_first = force, tell, used_s, soft_first
        self._scaler = HorizontalScaler(LOWEST, HIGHEST, stabilization_s=STABLE_S)
        self._units = LOWEST
        self.changes: Changes = []
        self._in_force()
        tell(LOWEST / UNITS_A_CORE)

    def run(self, over: threading.Event) -> None:
        """Until `over`. While a change comes into force nothing is looked at: its effect is unknown."""
        began = at = time.monotonic()
        used = self._used_s()
        while not over.wait(max(0.0, at + PERIOD_S - time.monotonic())):
            now, now_used = time.monotonic(), self._used_s()
            utilization = (now_used - used) * UNITS_A_CORE / ((now - at) * self._units)
            decided = self._scaler.decide(now - began, self._units, utilization)
            if decided != self._units:
                self._change(decided, over)
                now, now_used = time.monotonic(), self._used_s()
            at, used = now, now_used

    def _change(self, units: int, over: threading.Event) -> None:
        """What shrinks is told when it is decided, so that the pool has the time that the hardware takes anyway."""
        told_first = self._soft_first or units < self._units
        self._units = units
        if told_first:
            self._tell(units / UNITS_A_CORE)
        over.wait(READY_S)
        self._in_force()
        if not told_first:
            self._tell(units / UNITS_A_CORE)

    def _in_force(self) -> None:
        self._force(self._units / UNITS_A_CORE)
        self.changes.append((time.time(), self._units / UNITS_A_CORE))


@contextmanager
def scaling(autoscaler: Autoscaler) -> Iterator[None]:
    """For the length of the block; what went wrong meanwhile is raised at its end."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(autoscaler.run, over)
        try:
            yield
        finally:
            over.set()
        running.result()
