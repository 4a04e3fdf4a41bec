"""How a service's threads hinder each other beyond the universal scalability law (``cpu.total_rate``).

Kinds that no smooth curve fits, so that what was tuned on the one law is judged on others; and one whose best size
depends on the SLO (``Bimodal``).
"""

from dataclasses import dataclass

LEAST_SHARE = 0.1
LONGER_PER_WAITER = 0.05
LONGEST_PAUSE_S = 0.9
"""Of each second: a service whose every second was a pause would never come back, however small its pool."""


@dataclass(frozen=True, slots=True)
class Cliff:
    """A working set that no longer fits: each runnable thread beyond ``at`` takes ``cost`` of the total rate.

    Worked, at 20, cost 0.03: 20 threads have all of it, 30 have 0.7, 50 and more a tenth.
    """

    at: float
    cost: float

    def share(self, runnable: int) -> float:
        """Of the total rate without it, 0.1..1."""
        return max(LEAST_SHARE, 1.0 - self.cost * max(0.0, runnable - self.at))


@dataclass(frozen=True, slots=True)
class Convoy:
    """One lock, first come first served, that each request holds; 5 % longer for each waiter beyond ``at``.

    Worked, at 8, hold 0.4 ms: with up to 8 waiting 0.4 ms, with 18 waiting 0.6 ms.
    """

    at: float
    hold_s: float

    def seconds(self, waiting: int) -> float:
        """``waiting``: those behind the holder when it takes the lock."""
        return self.hold_s * (1.0 + LONGER_PER_WAITER * max(0.0, waiting - self.at))


@dataclass(frozen=True, slots=True)
class Pauses:
    """A collector's: at each whole second all threads stop for ``cost_s`` times in flight / ``at``.

    What a thread waits for outside goes on meanwhile; the thread itself goes on when the pause is over. A thread that
    is stopped uses no CPU. Worked, at 30, cost 40 ms: 15 threads in use stop for 20 ms, 90 for 120 ms; 0.9 s at most.
    """

    at: float
    cost_s: float

    def seconds(self, in_flight: int) -> float:
        return min(LONGEST_PAUSE_S, self.cost_s * in_flight / self.at)


@dataclass(frozen=True, slots=True)
class Bimodal:
    """A ``share`` of the requests is long: these compute ``factor`` times as much, and ``cost`` of that again for each
    other request in flight when they begin, since threads evict each other's working sets.

    Requests share the processor. With many threads a short one passes the long ones, and the long ones take longer;
    with few it waits behind them, and more requests are completed (Sora, figure 4). So an SLO that the wait exceeds
    wants many threads, and an SLO that has room for the wait wants few.

    Worked, share 0.1, factor 10, cost 0.02: alone a long one takes 10 times as long and the mean is 1.9; with 26 in
    flight 15 times, and the mean is 2.4.
    """

    share: float
    factor: float
    cost: float

    def longer(self, in_flight: int) -> float:
        """By what a long request's computing is multiplied."""
        return self.factor * (1.0 + self.cost * max(0, in_flight - 1))

    def mean(self, in_flight: int) -> float:
        """By what the computing of all requests is multiplied, on average."""
        return 1.0 - self.share + self.share * self.longer(in_flight)
