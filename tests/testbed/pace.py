"""The pace of virtual time against the wall clock, and the mapping between the two."""

from collections import deque

NS = 1_000_000_000
MAX_LAG = 1.0
"""Seconds of wall time that virtual time may trail before the rest is given up."""


class Pace:
    """Virtual time advances ``speed`` seconds per second of wall time.

    A program that cannot keep up would fall ever further behind, or catch up by a burst that no user made. So when
    it trails by more than ``MAX_LAG`` (or the wall clock steps back by as much), virtual time is tied to the wall
    clock anew: the difference is a slip, which is counted. To spans it looks like a stop of the whole world: whatever
    was in flight took that much longer. Each virtual time maps to one wall time, so nesting is kept.

    Worked: speed 2, started at 100 s. At wall 103 s it should have reached 6 s. If it has reached only 2 s it trails
    by 2 s of wall time: 2 s is tied to 103 s. Virtual 1 s is wall 100.5 s, virtual 3 s is wall 103.5 s.
    """

    def __init__(self, speed: float, origin_ns: int) -> None:
        if not speed > 0:
            raise ValueError(f"set the speed to {speed}: must be > 0")
        self.speed = speed
        self.slips = 0
        self.slipped_s = 0.0
        self.lag_s = 0.0
        """Wall seconds that virtual time trailed at the last look."""
        self._anchors: deque[tuple[int, int]] = deque([(0, origin_ns)], maxlen=256)

    def due(self, wall_ns: int, reached_s: float) -> float:
        """The virtual second to run to at ``wall_ns``, given the second that has been reached."""
        virtual_ns, anchor_ns = self._anchors[-1]
        due = (virtual_ns + (wall_ns - anchor_ns) * self.speed) / NS
        self.lag_s = (due - reached_s) / self.speed
        if abs(self.lag_s) <= MAX_LAG:
            return max(due, reached_s)
        self.slips += 1
        self.slipped_s += abs(self.lag_s)
        self._anchors.append((round(reached_s * NS), wall_ns))
        self.lag_s = 0.0
        return reached_s

    def wall_ns(self, virtual_ns: int) -> int:
        """Unix time in ns of a virtual time in ns."""
        anchors = reversed(self._anchors)
        anchor_virtual, anchor_wall = next((a for a in anchors if a[0] <= virtual_ns), self._anchors[0])
        return anchor_wall + round((virtual_ns - anchor_virtual) / self.speed)
